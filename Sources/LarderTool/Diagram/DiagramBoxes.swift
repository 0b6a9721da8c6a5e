import LarderTerminal

/// A table's box in a drawing: its texts and their sizes.
struct DiagramBox {
  struct Row {
    let name: String
    let type: String
    /// The mark of a key: `PK`, `FK`, both or nothing.
    let key: String
    let isPrimaryKey: Bool
    let isNotNull: Bool
  }

  let title: String
  /// A row for each column that is shown.
  let rows: [Row]
  /// The number of columns that are left out.
  let hidden: Int
  /// Whether the table doesn't exist, though others refer to it.
  let isMissing: Bool
  let width: Int
  let height: Int
  /// The x offset of the columns' names.
  let nameLeft: Int

  static let titleHeight = 28
  static let rowHeight = 20
  static let padding = 10
  /// The limit of rows; further columns are left out.
  private static let mostRows = 40
  /// The length limit of texts, in terminal columns; longer ones are cut.
  private static let mostText = 48

  init(_ table: Diagram.Table) {
    title = Self.shown(table.name)
    isMissing = false
    // A single further column is shown: a line that says “1 more” would take the same space.
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

  init(missing name: String) {
    title = Self.shown(name)
    (rows, hidden, isMissing, nameLeft) = ([], 0, true, 0)
    width = Self.even(max(130, Self.titleWidth(title) + 2 * Self.padding))
    height = Self.titleHeight
  }

  /// The y offset at which lines for a column end, by the column's position; for nil, the title's middle.
  func port(_ column: Int?) -> Int {
    guard let column, !isMissing else { return Self.titleHeight / 2 }
    return Self.titleHeight + 2 + Self.rowHeight * min(column, rows.count) + Self.rowHeight / 2
  }

  private static func shown(_ text: String) -> String { text.printable.cut(to: mostText) }

  private static func even(_ width: Int) -> Int { width + width % 2 }

  /// The width of 12-pixel text in a monospaced font; see the style in ``DiagramDrawing``.
  private static func width(_ text: String) -> Int { (text.displayWidth * 73 + 9) / 10 }
  private static func titleWidth(_ text: String) -> Int { (text.displayWidth * 80 + 9) / 10 }
}
