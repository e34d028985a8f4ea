(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @class
(trait_declaration name: (name) @name) @class
(enum_declaration name: (name) @name) @class
(const_declaration (const_element (name) @name)) @constant
(namespace_definition name: (namespace_name) @namespace)
(anonymous_class) @nested
;; names
(name) @id
(base_clause (name) @base)
(base_clause (qualified_name (name) @base))
(class_interface_clause (name) @base)
(class_interface_clause (qualified_name (name) @base))
(use_declaration (name) @base)
(use_declaration (qualified_name (name) @base))
(base_clause) @akin
(class_interface_clause) @akin
(use_declaration) @akin
(function_call_expression function: (name) @_f (#eq? @_f "class_alias") arguments: (_) @akin)
(variable_name (name) @variable)
(property_element (variable_name (name) @field))
(property_promotion_parameter name: (variable_name (name) @field))
(member_access_expression name: (name) @field)
(nullsafe_member_access_expression name: (name) @field)
(argument name: (name) @key)
(namespace_definition) @import
(namespace_use_declaration) @import
(attribute_list) @unclear
(namespace_use_declaration) @source
