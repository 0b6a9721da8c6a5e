import LarderTerminal

/// A table as a box of a drawing: the text of its rows, and how large they are.
struct DiagramBox {
  struct Row {
    let name: String
    let type: String
    /// `PK`, `FK`, both or nothing.
    let key: String
    let isPrimaryKey: Bool
    let isNotNull: Bool
  }

  let title: String
  /// What is shown of the columns.
  let rows: [Row]
  /// How many columns are left out.
  let hidden: Int
  /// Whether there is no such table: others refer to it.
  let isMissing: Bool
  let width: Int
  let height: Int
  /// Where the names of columns begin.
  let nameLeft: Int

  static let titleHeight = 28
  static let rowHeight = 20
  /// On both sides of a text.
  static let padding = 10
  /// More columns are left out.
  private static let mostRows = 40
  /// Longer texts are cut, in columns of a terminal.
  private static let mostText = 48

  init(_ table: Diagram.Table) {
    title = Self.shown(table.name)
    isMissing = false
    // One more isn't worth a line that says so.
    let shown = table.columns.count > Self.mostRows + 1 ? Self.mostRows : table.columns.count
    rows = table.columns.prefix(shown).map { column in
      Row(
        name: Self.shown(column.name), type: Self.shown(column.type),
        key: [column.isPrimaryKey ? "PK" : "", column.isForeignKey ? "FK" : ""]
          .filter { !$0.isEmpty }.joined(separator: " "),
        isPrimaryKey: column.isPrimaryKey,
        isNotNull: column.isNotNull || column.isPrimaryKey)
    }
    hidden = table.columns.count - shown
    nameLeft = rows.contains { $0.key.count > 2 } ? 46 : 32
    let texts = rows.map { Self.width($0.name) + ($0.type.isEmpty ? 0 : 16 + Self.width($0.type)) }
    width = Self.even(
      max(
        130, Self.titleWidth(title) + 2 * Self.padding,
        (texts.max() ?? 0) + nameLeft + Self.padding))
    height = Self.titleHeight + Self.rowHeight * (rows.count + (hidden > 0 ? 1 : 0)) + 4
  }

  /// One for a table that isn't there.
  init(missing name: String) {
    title = Self.shown(name)
    (rows, hidden, isMissing, nameLeft) = ([], 0, true, 0)
    width = Self.even(max(130, Self.titleWidth(title) + 2 * Self.padding))
    height = Self.titleHeight
  }

  /// The height at which lines for a column end, given its place in the table; for none, that of the title.
  func port(_ column: Int?) -> Int {
    guard let column, !isMissing else { return Self.titleHeight / 2 }
    return Self.titleHeight + 2 + Self.rowHeight * min(column, rows.count) + Self.rowHeight / 2
  }

  private static func shown(_ text: String) -> String {
    text.printable.cut(to: mostText)
  }

  private static func even(_ width: Int) -> Int { width + width % 2 }

  /// Of text of 12 points in a font whose characters are all of one width; see ``DiagramDrawing``.
  private static func width(_ text: String) -> Int { (text.displayWidth * 73 + 9) / 10 }
  private static func titleWidth(_ text: String) -> Int { (text.displayWidth * 80 + 9) / 10 }
}
