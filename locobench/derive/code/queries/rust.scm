(function_item name: (identifier) @name) @function
(impl_item type: (type_identifier) @name) @class
(impl_item type: (generic_type type: (type_identifier) @name)) @class
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
((attribute_item (attribute (identifier) @_c arguments: (token_tree (identifier) @_t))) @testmark (#eq? @_c "cfg") (#eq? @_t "test"))
((attribute_item (attribute (identifier) @_t .)) @testmark (#eq? @_t "test"))
;; names
