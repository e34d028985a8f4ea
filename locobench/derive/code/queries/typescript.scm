(function_signature name: (identifier) @name) @function
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @type
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @type
(class_body (method_signature name: (property_identifier) @name) @method)
(class_body (abstract_method_signature name: (property_identifier) @name) @method)
(class_body (public_field_definition name: [(property_identifier) (private_property_identifier)] @name value: [(arrow_function) (function_expression) (generator_function)]) @method)
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
(extends_type_clause) @akin
(type_alias_declaration value: [(type_identifier) (nested_type_identifier) (generic_type) (intersection_type) (union_type)] @akin)
(required_parameter pattern: (identifier) @bind)
(optional_parameter pattern: (identifier) @bind)
(type_parameter name: (type_identifier) @bind)
(index_signature name: (identifier) @bind)
(mapped_type_clause name: (type_identifier) @bind)
(infer_type (type_identifier) @bind)
(class name: (type_identifier) @bind)
(property_signature name: (property_identifier) @bind)
(interface_body (method_signature name: (property_identifier) @bind))
(object_type (method_signature name: (property_identifier) @bind))
(public_field_definition name: [(property_identifier) (private_property_identifier)] @bind)
(required_parameter (accessibility_modifier) pattern: (identifier) @bind)
(enum_body (property_identifier) @bind)
(enum_assignment name: (property_identifier) @bind)
(import_alias) @source
(module name: (string)) @source
(export_statement "=") @source
(type_arguments) @plain
