(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (identifier) @name) @class
(class_body (method_definition name: (property_identifier) @name) @method)
(class_body (method_definition name: (private_property_identifier) @name) @method)
(class_body (field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method)
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments (call_expression arguments: (arguments [(arrow_function) (function_expression)]))))) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name))) @constant)
(program (expression_statement (assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [(function_expression) (arrow_function) (generator_function)])) @function)
(pair value: [(arrow_function) (function_expression)] @nested)
(object (method_definition) @nested)
;; names
[(identifier) (property_identifier) (private_property_identifier) (shorthand_property_identifier) (statement_identifier)] @id
(class_heritage (identifier) @base)
(class_heritage (member_expression property: (property_identifier) @base))
(class_heritage) @akin
(variable_declarator value: [(identifier) @akin (member_expression property: (property_identifier) @akin)])
(formal_parameters (identifier) @bind)
(formal_parameters (assignment_pattern left: (identifier) @bind))
(rest_pattern (identifier) @bind)
(array_pattern (identifier) @bind)
(array_pattern (assignment_pattern left: (identifier) @bind))
(pair_pattern value: (identifier) @bind)
(pair_pattern value: (assignment_pattern left: (identifier) @bind))
(pair_pattern key: (property_identifier) @key)
(shorthand_property_identifier_pattern) @bind
(shorthand_property_identifier_pattern) @id
(arrow_function parameter: (identifier) @bind)
(variable_declarator name: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(function_expression name: (identifier) @key)
(class name: (identifier) @bind)
(assignment_expression left: (identifier) @bind)
(assignment_expression left: (member_expression property: (property_identifier) @bind))
(statement_identifier) @key
(pair key: (property_identifier) @key)
(object (method_definition name: (property_identifier) @bind))
(field_definition property: (property_identifier) @bind)
(jsx_attribute (property_identifier) @key)
(import_statement) @import
(export_clause) @import
(export_statement value: (identifier)) @import
(variable_declarator value: (call_expression function: (identifier) @_r (#eq? @_r "require"))) @import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_r (#eq? @_r "require")))) @import
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: (identifier) (#eq? @_m "module") (#eq? @_e "exports")) @import
(assignment_expression left: (member_expression object: (identifier) @_x) right: (identifier) (#eq? @_x "exports")) @import
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: (object (shorthand_property_identifier)) (#eq? @_m "module") (#eq? @_e "exports")) @import
(import_statement) @source
(export_statement source: (string)) @source
(export_statement (export_clause)) @source
(export_statement "default") @source
((call_expression function: (identifier) @_s arguments: (arguments . [(string) (template_string)])) @source (#eq? @_s "require"))
(call_expression function: (import) arguments: (arguments . [(string) (template_string)])) @source
((assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: [(identifier) (object)]) @source (#eq? @_m "module") (#eq? @_e "exports"))
((assignment_expression left: (identifier) @_x right: [(identifier) (object)]) @source (#eq? @_x "exports"))
((assignment_expression left: (member_expression object: (identifier) @_x) right: (identifier)) @source (#eq? @_x "exports"))
((assignment_expression left: (member_expression object: (member_expression object: (identifier) @_m property: (property_identifier) @_e)) right: (identifier)) @source (#eq? @_m "module") (#eq? @_e "exports"))
