(class_declaration name: (identifier) @name) @class
(class_body (field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method)
(program (expression_statement (assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [(function_expression) (arrow_function) (generator_function)])) @function)
;; names
