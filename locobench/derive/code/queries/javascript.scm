(class_declaration name: (identifier) @name) @class
(class_body (field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method)
(program (expression_statement (assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [(function_expression) (arrow_function) (generator_function)])) @function)
;; names
[(identifier) (property_identifier) (private_property_identifier) (shorthand_property_identifier) (statement_identifier)] @id
(class_heritage (identifier) @base)
(class_heritage (member_expression property: (property_identifier) @base))
(formal_parameters (identifier) @bind)
(formal_parameters (assignment_pattern left: (identifier) @bind))
(shorthand_property_identifier_pattern) @id
(class name: (identifier) @bind)
(field_definition property: (property_identifier) @bind)
(jsx_attribute (property_identifier) @key)
(variable_declarator value: (call_expression function: (identifier) @_r (#eq? @_r "require"))) @import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_r (#eq? @_r "require")))) @import
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: (identifier) (#eq? @_m "module") (#eq? @_e "exports")) @import
(assignment_expression left: (member_expression object: (identifier) @_x) right: (identifier) (#eq? @_x "exports")) @import
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: (object (shorthand_property_identifier)) (#eq? @_m "module") (#eq? @_e "exports")) @import
((assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: [(identifier) (object)]) @source (#eq? @_m "module") (#eq? @_e "exports"))
((assignment_expression left: (identifier) @_x right: [(identifier) (object)]) @source (#eq? @_x "exports"))
((assignment_expression left: (member_expression object: (identifier) @_x) right: (identifier)) @source (#eq? @_x "exports"))
((assignment_expression left: (member_expression object: (member_expression object: (identifier) @_m property: (property_identifier) @_e)) right: (identifier)) @source (#eq? @_m "module") (#eq? @_e "exports"))
