/// The words that tell what follows, in lists that ``SourceBytes/isWord(_:_:of:)`` reads.
enum Keywords {
  /// After these stands an operand, so that a slash begins a regular expression.
  static var beforeOperand: StaticString {
    " any as await borrow case consume copy defer do each else for guard if in inout is repeat return some switch throw try where while yield "
  }

  /// What may stand before the keyword of a declaration.
  static var modifiers: StaticString {
    " borrowing consuming convenience distributed dynamic fileprivate final indirect infix internal lazy mutating nonisolated nonmutating open optional override package postfix prefix private public required static unowned weak __consuming "
  }

  /// Before a type, with a space between.
  static var typeSpecifiers: StaticString {
    " any borrowing consuming each inout isolated nonisolated repeat sending some __owned __shared _const "
  }

  /// Before an operand of an expression.
  static var operandSpecifiers: StaticString {
    " any await borrow consume copy each repeat some try unsafe "
  }

  /// The keywords of members other than properties and types.
  static var functions: StaticString {
    " func init deinit subscript "
  }

  /// The keywords of properties, subscripts and functions, which `class` may stand before.
  static var membersOfClasses: StaticString {
    " var let func subscript "
  }

  /// The keywords of types.
  static var types: StaticString {
    " struct class enum actor protocol extension "
  }
}
