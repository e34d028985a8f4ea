(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [(type_identifier) @owner (pointer_type (type_identifier) @owner) (generic_type type: (type_identifier) @owner) (pointer_type (generic_type type: (type_identifier) @owner))])) name: (field_identifier) @name) @method
(type_declaration (type_spec name: (type_identifier) @name) @class)
(type_declaration (type_alias name: (type_identifier) @name) @class)
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @constant))
(package_clause (package_identifier) @namespace)
;; names
[(identifier) (type_identifier) (field_identifier)] @id
(method_declaration receiver: (parameter_list (parameter_declaration name: (identifier) @self)))
(parameter_declaration name: (identifier) @bind)
(variadic_parameter_declaration name: (identifier) @bind)
(type_parameter_declaration name: (identifier) @bind)
(short_var_declaration left: (expression_list (identifier) @bind))
(range_clause left: (expression_list (identifier) @bind))
(receive_statement left: (expression_list (identifier) @bind))
(type_switch_statement alias: (expression_list (identifier) @bind))
(var_spec name: (identifier) @bind)
(const_spec name: (identifier) @bind)
(field_declaration name: (field_identifier) @bind)
(method_elem name: (field_identifier) @bind)
(keyed_element key: (literal_element (identifier) @unclear))
(label_name) @key
(import_declaration) @import
(import_declaration) @source
