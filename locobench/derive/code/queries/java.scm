(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @constructor
(compact_constructor_declaration name: (identifier) @name) @constructor
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @class
(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @name)) @constant
(object_creation_expression (class_body) @nested)
(enum_constant body: (class_body) @nested)
(package_declaration [(scoped_identifier) (identifier)] @namespace)
;; names
[(identifier) (type_identifier)] @id
(superclass (type_identifier) @base)
(superclass (generic_type (type_identifier) @base))
(superclass (scoped_type_identifier (type_identifier) @base .))
(superclass (generic_type (scoped_type_identifier (type_identifier) @base .)))
(super_interfaces (type_list (scoped_type_identifier (type_identifier) @base .)))
(super_interfaces (type_list (generic_type (scoped_type_identifier (type_identifier) @base .))))
(extends_interfaces (type_list (scoped_type_identifier (type_identifier) @base .)))
(extends_interfaces (type_list (generic_type (scoped_type_identifier (type_identifier) @base .))))
[(superclass) (super_interfaces) (extends_interfaces)] @akin
(object_creation_expression type: (_) @akin (class_body))
(super_interfaces (type_list (type_identifier) @base))
(super_interfaces (type_list (generic_type (type_identifier) @base)))
(extends_interfaces (type_list (type_identifier) @base))
(extends_interfaces (type_list (generic_type (type_identifier) @base)))
(formal_parameter name: (identifier) @bind)
(spread_parameter (variable_declarator name: (identifier) @bind))
(variable_declarator name: (identifier) @bind)
(inferred_parameters (identifier) @bind)
(lambda_expression parameters: (identifier) @bind)
(catch_formal_parameter name: (identifier) @bind)
(enhanced_for_statement name: (identifier) @bind)
(resource name: (identifier) @bind)
(type_parameter (type_identifier) @bind)
(enum_constant name: (identifier) @bind)
(annotation_type_element_declaration name: (identifier) @bind)
(element_value_pair key: (identifier) @key)
(labeled_statement (identifier) @key)
(package_declaration) @import
(import_declaration) @import
(import_declaration) @source
(type_arguments) @plain
