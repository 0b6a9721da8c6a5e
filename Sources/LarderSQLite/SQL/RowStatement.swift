/// The table and columns that an INSERT, UPDATE or DELETE changes, as far as its words tell.
struct RowStatement {
  let schema: String?
  let table: String
  /// Whether rows get values, which may refer to rows that don't exist.
  let writesRows: Bool
  /// Whether rows go, or lose values to which others may refer.
  let removesRows: Bool
  /// The columns that an UPDATE assigns; nil if all columns count.
  private let assigned: Set<String>?

  /// The number of bytes in which the names are looked for. A batch of rows may be much longer.
  private static let length = 10_000

  init?(_ sql: String) {
    let tokens = String(decoding: sql.utf8.prefix(Self.length), as: UTF8.self).sqlTokens
    var depth = 0
    // Behind WITH, the verb is the first one outside of parentheses.
    let verb = tokens.firstIndex { token in
      depth += token.isSymbol("(") ? 1 : token.isSymbol(")") ? -1 : 0
      return depth == 0 && ["insert", "replace", "update", "delete"].contains(where: token.isWord)
    }
    guard let verb else { return nil }
    var rest = tokens[(verb + 1)...]
    let replaces =
      tokens[verb].isWord("replace") || rest.dropFirst().first?.isWord("replace") == true
    if rest.first?.isWord("or") == true { rest = rest.dropFirst(2) }
    if ["into", "from"].contains(where: { rest.first?.isWord($0) == true }) {
      rest = rest.dropFirst()
    }
    guard let first = rest.first?.name else { return nil }
    let isQualified = rest.dropFirst().first?.isSymbol(".") == true
    schema = isQualified ? first : nil
    guard let table = isQualified ? rest.dropFirst(2).first?.name : first else { return nil }
    self.table = table
    let isUpdate = tokens[verb].isWord("update")
    writesRows = !tokens[verb].isWord("delete")
    removesRows = !tokens[verb].isWord("insert") || replaces
    assigned = isUpdate ? Self.assignedColumns(rest) : nil
  }

  /// The names before equals signs, up to WHERE. A list in parentheses counts too, and so may a comparison in a
  /// value: a key too many is better than none.
  private static func assignedColumns(_ tokens: ArraySlice<SQLPiece>) -> Set<String>? {
    guard let start = tokens.firstIndex(where: { $0.isWord("set") }) else { return nil }
    let list = tokens[start...].prefix { !$0.isWord("where") }
    if list.dropFirst().first?.isSymbol("(") == true { return nil }
    return Set(
      zip(list, list.dropFirst()).compactMap { $1.isSymbol("=") ? $0.name?.folded : nil })
  }

  func changes(_ column: String) -> Bool { assigned?.contains(column.folded) ?? true }
}
