/// The words that tell what follows.
enum Keywords {
  /// After these stands an operand, so that a slash begins a regular expression.
  static let beforeOperand: Set<String> = [
    "any", "as", "await", "borrow", "case", "consume", "copy", "defer", "do", "each", "else", "for",
    "guard", "if", "in", "inout", "is", "repeat", "return", "some", "switch", "throw", "try",
    "where", "while", "yield",
  ]

  /// What may stand before the keyword of a declaration.
  static let modifiers: Set<String> = [
    "borrowing", "consuming", "convenience", "distributed", "dynamic", "fileprivate", "final",
    "indirect", "infix", "internal", "lazy", "mutating", "nonisolated", "nonmutating", "open",
    "optional", "override", "package", "postfix", "prefix", "private", "public", "required",
    "static", "unowned", "weak", "__consuming",
  ]

  /// Before a type, with a space between.
  static let typeSpecifiers: Set<String> = [
    "any", "borrowing", "consuming", "each", "inout", "isolated", "nonisolated", "repeat",
    "sending", "some", "__owned", "__shared", "_const",
  ]

  /// Before an operand of an expression.
  static let operandSpecifiers: Set<String> = [
    "any", "await", "borrow", "consume", "copy", "each", "repeat", "some", "try", "unsafe",
  ]

  /// The keywords of members other than properties and types.
  static let functions: Set<String> = ["func", "init", "deinit", "subscript"]

  /// The keywords of types.
  static let types: Set<String> = ["struct", "class", "enum", "actor", "protocol", "extension"]
}
