/// The words that decide how to read on, as lists that ``SourceBytes/isWord(_:_:of:)`` reads.
enum Keywords {
  /// The words that are always keywords, except those for values. A slash after one begins a literal.
  static var reserved: StaticString {
    " as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough fileprivate for guard if import in init inout internal is let precedencegroup private protocol public repeat rethrows return static struct subscript switch throw throws typealias var where while "
  }

  /// The words of conditional compilation, after `#`.
  static var conditions: StaticString { " if else elseif endif " }

  /// The modifiers that can precede a declaration's keyword.
  static var modifiers: StaticString {
    " borrowing consuming convenience distributed dynamic fileprivate final indirect infix internal lazy mutating nonisolated nonmutating open optional override package postfix prefix private public required static unowned weak __consuming "
  }

  /// The words that can precede a type, with a space between.
  static var typeSpecifiers: StaticString {
    " any borrowing consuming each inout isolated nonisolated repeat sending some __owned __shared _const "
  }

  /// The words that can precede an operand of an expression.
  static var operandSpecifiers: StaticString {
    " any await borrow consume copy each repeat some try unsafe "
  }

  /// The keywords of members other than properties and types.
  static var functions: StaticString { " func init deinit subscript " }

  /// The keywords of properties, subscripts and functions, which `class` can precede.
  static var membersOfClasses: StaticString { " var let func subscript " }

  static var accessors: StaticString {
    " get set init read modify _read _modify unsafeAddress unsafeMutableAddress "
  }

  static var types: StaticString { " struct class enum actor protocol extension " }
}
