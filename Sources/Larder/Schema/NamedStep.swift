import LarderSQLite

/// The action of a step that names its table and columns. It finds out what to do from the schema that it meets.
struct NamedStep: Hashable, Sendable {
  /// The step's text, from which a migration's checksum is made. Databases keep that checksum, so the text of a
  /// step must never change.
  let text: String
  let run: @Sendable (Database) throws -> Void
  /// Undoes the step; nil if that is impossible.
  var undo: (@Sendable (Database) throws -> Void)?
  /// The rows to fill in batches, if the step does that outside of a transaction.
  var backfill: Backfill?

  init(
    _ text: [String], undo: (@Sendable (Database) throws -> Void)? = nil,
    _ run: @escaping @Sendable (Database) throws -> Void
  ) {
    self.text = text.joined(separator: " ")
    self.undo = undo
    self.run = run
  }

  static func == (one: NamedStep, other: NamedStep) -> Bool { one.text == other.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Rows of a table that a step fills in batches, in the order of the key.
struct Backfill: Sendable {
  /// Fills the batch of rows after a position, and returns the position of the last one; nil if there are none.
  let fill: @Sendable (Database, _ position: String?) throws -> String?

  /// Fills all rows in the present transaction.
  func fillAll(_ db: Database) throws {
    var position = try fill(db, nil)
    while let last = position { position = try fill(db, last) }
  }
}

extension SchemaStep {
  init(_ detail: String, isDestructive: Bool = false, _ step: NamedStep) {
    self.init(detail, isDestructive: isDestructive, .named(step))
  }

  /// The step's text for a migration's checksum.
  var checkedText: String {
    switch action {
    case .named(let step): step.text
    case .rebuild(let table, _): "rebuild \(table.sql)"
    case .execute, .create, .addColumn: sql ?? ""
    }
  }
}

extension ColumnDefinition {
  /// The column's definition in SQLite, for a step's text.
  var checkedText: String {
    let table = try? TableSchema.declared(
      "t", of: nil, [self], [], .notStrict, .secondsSince1970, in: nil)
    let indexes = (table?.indexes ?? []).map(\.sql)
    return ([table?.columns.first?.sql ?? name.quotedIdentifier] + indexes).joined(separator: "; ")
      + (serverType.map { " postgres \($0)" } ?? "")
  }
}

extension SQL {
  /// The SQL with its values, for a step's text.
  var checkedText: String { (try? literalText()) ?? text }
}

extension TableConstraint {
  /// The constraint's definition, for a step's text.
  var checkedText: String { definition.words }
}

extension TableConstraintDefinition {
  /// The constraint in words, which name its columns.
  var words: String {
    switch self {
    case .unique(let columns): "unique (\(columns.identifierList))"
    case .check(let condition): "check (\(condition.checkedText))"
    case .foreignKey(let key): "foreign key \(key().sql)"
    case .index(let columns, let isUnique, let condition, let name):
      (isUnique ? "unique index" : "index") + (name.map { " \($0.quotedIdentifier)" } ?? "")
        + " (\(columns.identifierList))" + (condition.map { " where \($0.checkedText)" } ?? "")
    case .expressionIndex(_, let suffix, _, _, let name): "index \(name ?? suffix)"
    }
  }
}
