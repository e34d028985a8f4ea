(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_body (method_definition name: (property_identifier) @name) @method)
(class_body (method_definition name: (private_property_identifier) @name) @method)
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments (call_expression arguments: (arguments [(arrow_function) (function_expression)]))))) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name))) @constant)
(pair value: [(arrow_function) (function_expression)] @nested)
(object (method_definition) @nested)
;; names
(class_heritage) @akin
(variable_declarator value: [(identifier) @akin (member_expression property: (property_identifier) @akin)])
(rest_pattern (identifier) @bind)
(array_pattern (identifier) @bind)
(array_pattern (assignment_pattern left: (identifier) @bind))
(pair_pattern value: (identifier) @bind)
(pair_pattern value: (assignment_pattern left: (identifier) @bind))
(pair_pattern key: (property_identifier) @unclear)
(shorthand_property_identifier_pattern) @bind
(arrow_function parameter: (identifier) @bind)
(variable_declarator name: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(function_expression name: (identifier) @key)
(assignment_expression left: (identifier) @bind)
(assignment_expression left: (member_expression property: (property_identifier) @bind))
(statement_identifier) @key
(pair key: (property_identifier) @key)
(object (method_definition name: (property_identifier) @bind))
(import_statement) @import
(export_clause) @import
(export_statement value: (identifier)) @import
(import_statement) @source
(export_statement source: (string)) @source
(export_statement (export_clause)) @source
(export_statement "default") @source
((call_expression function: (identifier) @_s arguments: (arguments . [(string) (template_string)])) @source (#eq? @_s "require"))
(call_expression function: (import) arguments: (arguments . [(string) (template_string)])) @source
