(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @function
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @type
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @type
(class_body (method_definition name: (property_identifier) @name) @method)
(class_body (method_definition name: (private_property_identifier) @name) @method)
(class_body (method_signature name: (property_identifier) @name) @method)
(class_body (abstract_method_signature name: (property_identifier) @name) @method)
(class_body (public_field_definition name: [(property_identifier) (private_property_identifier)] @name value: [(arrow_function) (function_expression) (generator_function)]) @method)
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @function
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments (call_expression arguments: (arguments [(arrow_function) (function_expression)]))))) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @constant)
(program (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name))) @constant)
(pair value: [(arrow_function) (function_expression)] @nested)
(object (method_definition) @nested)
(internal_module name: (identifier) @namespace)
;; names
[(identifier) (property_identifier) (private_property_identifier) (type_identifier) (shorthand_property_identifier) (shorthand_property_identifier_pattern) (statement_identifier)] @id
(extends_clause value: (identifier) @base)
(extends_clause value: (member_expression property: (property_identifier) @base))
(implements_clause (type_identifier) @base)
(implements_clause (generic_type name: (type_identifier) @base))
(extends_type_clause (type_identifier) @base)
(extends_type_clause (generic_type name: (type_identifier) @base))
(implements_clause (nested_type_identifier name: (type_identifier) @base))
(implements_clause (generic_type name: (nested_type_identifier name: (type_identifier) @base)))
(extends_type_clause (nested_type_identifier name: (type_identifier) @base))
(extends_type_clause (generic_type name: (nested_type_identifier name: (type_identifier) @base)))
(class_heritage) @akin
(extends_type_clause) @akin
(type_alias_declaration value: [(type_identifier) (nested_type_identifier) (generic_type) (intersection_type) (union_type)] @akin)
(variable_declarator value: [(identifier) @akin (member_expression property: (property_identifier) @akin)])
(required_parameter pattern: (identifier) @bind)
(optional_parameter pattern: (identifier) @bind)
(rest_pattern (identifier) @bind)
(array_pattern (identifier) @bind)
(array_pattern (assignment_pattern left: (identifier) @bind))
(pair_pattern value: (identifier) @bind)
(pair_pattern value: (assignment_pattern left: (identifier) @bind))
(pair_pattern key: (property_identifier) @key)
(shorthand_property_identifier_pattern) @bind
(arrow_function parameter: (identifier) @bind)
(variable_declarator name: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(type_parameter name: (type_identifier) @bind)
(index_signature name: (identifier) @bind)
(mapped_type_clause name: (type_identifier) @bind)
(infer_type (type_identifier) @bind)
(function_expression name: (identifier) @key)
(class name: (type_identifier) @bind)
(assignment_expression left: (identifier) @bind)
(assignment_expression left: (member_expression property: (property_identifier) @bind))
(statement_identifier) @key
(pair key: (property_identifier) @key)
(object (method_definition name: (property_identifier) @bind))
(property_signature name: (property_identifier) @bind)
(interface_body (method_signature name: (property_identifier) @bind))
(object_type (method_signature name: (property_identifier) @bind))
(public_field_definition name: [(property_identifier) (private_property_identifier)] @bind)
(required_parameter (accessibility_modifier) pattern: (identifier) @bind)
(enum_body (property_identifier) @bind)
(enum_assignment name: (property_identifier) @bind)
(import_statement) @import
(export_clause) @import
(export_statement value: (identifier)) @import
(import_statement) @source
(import_alias) @source
(module name: (string)) @source
(export_statement source: (string)) @source
(export_statement (export_clause)) @source
(export_statement "default") @source
(export_statement "=") @source
((call_expression function: (identifier) @_s arguments: (arguments . [(string) (template_string)])) @source (#eq? @_s "require"))
(call_expression function: (import) arguments: (arguments . [(string) (template_string)])) @source
(type_arguments) @plain
