(function_definition name: (identifier) @name) @function
(decorated_definition definition: (function_definition name: (identifier) @name)) @function
(class_definition name: (identifier) @name) @class
(decorated_definition definition: (class_definition name: (identifier) @name)) @class
(module (expression_statement (assignment left: (identifier) @name)) @constant)
;; names
(identifier) @id
(class_definition superclasses: (argument_list (identifier) @base))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @base)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @base)))
(class_definition superclasses: (argument_list (subscript value: (attribute attribute: (identifier) @base))))
(class_definition superclasses: (argument_list) @akin)
(assignment right: [(identifier) @akin (attribute attribute: (identifier) @akin) (subscript value: (identifier) @akin) (subscript value: (attribute attribute: (identifier) @akin)) (conditional_expression) @akin])
(module (expression_statement (assignment right: (call arguments: (argument_list (identifier) @akin)))))
(type_alias_statement) @akin
(call function: (identifier) @_t (#eq? @_t "type") arguments: (argument_list) @akin)
(parameters (identifier) @bind)
(lambda_parameters (identifier) @bind)
(default_parameter name: (identifier) @bind)
(typed_parameter (identifier) @bind)
(typed_default_parameter name: (identifier) @bind)
(list_splat_pattern (identifier) @bind)
(dictionary_splat_pattern (identifier) @bind)
(assignment left: (identifier) @bind)
(assignment left: (attribute attribute: (identifier) @bind))
(augmented_assignment left: (identifier) @bind)
(pattern_list (identifier) @bind)
(tuple_pattern (identifier) @bind)
(list_pattern (identifier) @bind)
(pattern_list (attribute attribute: (identifier) @bind))
(for_statement left: (identifier) @bind)
(for_in_clause left: (identifier) @bind)
(named_expression name: (identifier) @bind)
(as_pattern_target (identifier) @bind)
(global_statement (identifier) @bind)
(nonlocal_statement (identifier) @bind)
(delete_statement (identifier) @bind)
(case_pattern (dotted_name (identifier) @unclear))
(type_parameter (type (identifier) @bind))
(keyword_argument name: (identifier) @key)
(import_statement) @import
(import_from_statement) @import
(import_statement) @source
(import_from_statement) @source
(class_definition superclasses: (argument_list (subscript subscript: (_) @plain)))
