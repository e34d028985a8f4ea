(function_item name: (identifier) @name) @function
(impl_item type: (type_identifier) @name) @container
(impl_item type: (generic_type type: (type_identifier) @name)) @container
(trait_item name: (type_identifier) @name) @class
(struct_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(type_item name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(macro_definition name: (identifier) @name) @type
(function_signature_item name: (identifier) @name) @function
(impl_item) @nested
(mod_item name: (identifier) @namespace)
((attribute_item (attribute (identifier) @_c arguments: (token_tree (identifier) @_t))) @testmark (#eq? @_c "cfg") (#eq? @_t "test"))
((attribute_item (attribute (identifier) @_c)) @cfgmark (#eq? @_c "cfg"))
((attribute_item (attribute (identifier) @_t .)) @testmark (#eq? @_t "test"))
;; names
[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @id
(impl_item trait: [(type_identifier) @base (generic_type type: (type_identifier) @base) (scoped_type_identifier name: (type_identifier) @base)] "for")
(impl_item trait: (_) @akin)
(trait_item bounds: (trait_bounds) @akin)
(type_item type: (_) @akin)
(macro_invocation (token_tree) @akin)
(parameter pattern: (identifier) @bind)
(parameter pattern: (mut_pattern (identifier) @bind))
(parameter pattern: (_ (identifier) @bind))
(closure_parameters (identifier) @bind)
(closure_parameters (_ (identifier) @bind))
(let_declaration pattern: (identifier) @bind)
(let_declaration pattern: (mut_pattern (identifier) @bind))
(let_declaration pattern: (tuple_pattern (identifier) @bind))
(let_condition pattern: (_ (identifier) @unclear))
(match_pattern (identifier) @unclear)
(match_pattern (tuple_struct_pattern (identifier) @unclear))
(tuple_struct_pattern (identifier) @unclear)
(for_expression pattern: (identifier) @bind)
(tuple_pattern (identifier) @bind)
(type_parameter name: (type_identifier) @bind)
(const_parameter name: (identifier) @bind)
(field_declaration name: (field_identifier) @bind)
(field_initializer field: (field_identifier) @key)
(field_pattern name: (field_identifier) @key)
(field_pattern name: (shorthand_field_identifier) @bind)
(enum_variant name: (identifier) @bind)
(associated_type name: (type_identifier) @bind)
(attribute_item) @unclear
(inner_attribute_item) @unclear
(macro_definition) @unclear
(use_declaration) @import
(extern_crate_declaration) @import
(use_declaration) @source
(extern_crate_declaration) @source
(impl_item trait: (generic_type type_arguments: (_) @plain))
