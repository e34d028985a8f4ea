(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) @function
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(function_definition) @callable
;; names
[(identifier) (type_identifier) (field_identifier)] @id
(parameter_declaration declarator: (identifier) @bind)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @bind))
(parameter_declaration declarator: (array_declarator declarator: (identifier) @bind))
(parameter_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(declaration declarator: (identifier) @bind)
(declaration declarator: (pointer_declarator declarator: (identifier) @bind))
(declaration declarator: (array_declarator declarator: (identifier) @bind))
(declaration declarator: (init_declarator declarator: (identifier) @bind))
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @bind)))
(declaration declarator: (function_declarator declarator: (identifier) @declare))
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @declare)))
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @declare))))
(field_identifier) @field
(enumerator name: (identifier) @bind)
(type_definition declarator: (type_identifier) @bind)
(struct_specifier name: (type_identifier) @key)
(enum_specifier name: (type_identifier) @key)
(union_specifier name: (type_identifier) @key)
(labeled_statement label: (statement_identifier) @key)
(preproc_arg) @opaque
(preproc_if) @variant
(preproc_ifdef) @variant
(preproc_if condition: (_) @unclear)
