(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @constructor
(property_declaration name: (identifier) @name) @method
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(delegate_declaration name: (identifier) @name) @type
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @name))) @constant
(namespace_declaration name: (_) @namespace)
(file_scoped_namespace_declaration name: (_) @namespace)
;; names
(identifier) @id
(base_list (identifier) @base)
(base_list (generic_name (identifier) @base))
(base_list (qualified_name name: (identifier) @base))
(base_list (qualified_name name: (generic_name (identifier) @base)))
(base_list) @akin
(primary_constructor_base_type type: (identifier) @base)
(parameter name: (identifier) @bind)
(variable_declarator name: (identifier) @bind)
(catch_declaration name: (identifier) @bind)
(foreach_statement left: (identifier) @bind)
(declaration_expression name: (identifier) @bind)
(declaration_pattern name: (identifier) @bind)
(type_parameter name: (identifier) @bind)
(implicit_parameter) @bind
(implicit_parameter) @id
(enum_member_declaration name: (identifier) @bind)
(local_function_statement name: (identifier) @bind)
(event_declaration name: (identifier) @bind)
(from_clause name: (identifier) @bind)
(let_clause (identifier) @bind)
(argument name: (identifier) @key)
(initializer_expression (assignment_expression left: (identifier) @unclear))
(labeled_statement (identifier) @key)
(namespace_declaration name: (_) @import)
(file_scoped_namespace_declaration name: (_) @import)
(using_directive) @import
(attribute_list) @unclear
(preproc_if) @variant
(using_directive) @source
(type_argument_list) @plain
