(function_definition declarator: (_ [(identifier) (field_identifier)] @name)) @function
(function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name)) @function
(function_definition declarator: (_ (function_declarator declarator: [(identifier) (field_identifier)] @name))) @function
(function_definition declarator: (function_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)] name: (identifier) @name))) @function
(function_definition declarator: (_ (function_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)] name: (identifier) @name)))) @function
(template_declaration (function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name))) @function
(template_declaration (function_definition declarator: (_ (function_declarator declarator: [(identifier) (field_identifier)] @name)))) @function
(class_specifier name: (type_identifier) @name body: (_)) @class
(struct_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @class
(preproc_def name: (identifier) @name) @type
(preproc_function_def name: (identifier) @name) @type
(alias_declaration name: (type_identifier) @name) @type
(namespace_definition name: (namespace_identifier) @namespace)
(function_definition) @callable
;; names
[(identifier) (type_identifier) (field_identifier)] @id
(base_class_clause (type_identifier) @base)
(base_class_clause) @akin
(alias_declaration type: (_) @akin)
(type_definition type: (_) @akin)
(base_class_clause (template_type name: (type_identifier) @base))
(base_class_clause (qualified_identifier name: (type_identifier) @base))
(base_class_clause (qualified_identifier name: (template_type name: (type_identifier) @base)))
(parameter_declaration declarator: (identifier) @bind)
(parameter_declaration declarator: (_ (identifier) @bind))
(optional_parameter_declaration declarator: (identifier) @bind)
(optional_parameter_declaration declarator: (_ (identifier) @bind))
(declaration declarator: (identifier) @bind)
(declaration declarator: (pointer_declarator (identifier) @bind))
(declaration declarator: (reference_declarator (identifier) @bind))
(declaration declarator: (array_declarator declarator: (identifier) @bind))
(init_declarator declarator: (identifier) @bind)
(init_declarator declarator: (pointer_declarator (identifier) @bind))
(init_declarator declarator: (reference_declarator (identifier) @bind))
(init_declarator declarator: (array_declarator declarator: (identifier) @bind))
(for_range_loop declarator: (identifier) @bind)
(for_range_loop declarator: (_ (identifier) @bind))
(function_declarator declarator: (identifier) @declare)
(function_declarator declarator: (field_identifier) @declare)
(field_declaration declarator: (field_identifier) @bind)
(field_declaration declarator: (pointer_declarator (field_identifier) @bind))
(field_declaration declarator: (array_declarator (field_identifier) @bind))
(type_parameter_declaration (type_identifier) @bind)
(optional_type_parameter_declaration name: (type_identifier) @bind)
(enumerator name: (identifier) @bind)
(type_definition declarator: (type_identifier) @bind)
(class_specifier name: (type_identifier) @key)
(struct_specifier name: (type_identifier) @key)
(using_declaration) @unclear
(friend_declaration) @unclear
(template_instantiation) @unclear
(preproc_arg) @opaque
(preproc_if) @variant
(preproc_ifdef) @variant
(template_argument_list) @plain
