import Larder
import LarderTerminal

/// The steps from one schema to another, with the statements of each.
///
/// The steps are run on an empty database in memory, and the statements that Larder runs there are recorded.
/// So a printed rebuild is the same as a migration's.
struct StepsPlan {
  /// A step, with its statements if it is a rebuild.
  struct Part {
    let detail: String
    let isDestructive: Bool
    /// The statement; nil for a rebuild.
    let sql: String?
    /// Remarks on everything that the user has to review or decide.
    let remarks: [String]
    /// The table rebuild; nil for a step that is one statement.
    let rebuild: Rebuild?
  }

  struct Rebuild {
    let old: TableSchema
    let new: TableSchema
    let losing: RebuildLosses
    /// The statements that create the new table, copy the rows, drop the old table, and create the rest, in
    /// order.
    let statements: [String]
    let refused: [RefusedRows]
  }

  let parts: [Part]
  /// Whether foreign keys can be checked before the steps, and after them. The check itself fails if a
  /// foreign key refers to columns that aren't a key.
  let isCheckable: (before: Bool, after: Bool)
  let names: Set<[UInt8]>

  var isEmpty: Bool { parts.isEmpty }
  var hasRebuild: Bool { parts.contains { $0.rebuild != nil } }

  /// Plans the steps. Throws ``Failure`` if no steps lead from one schema to the other.
  init(from old: Schema, to new: Schema) throws {
    let draft = try StepsDraft(old)
    let before = draft.canCheckForeignKeys
    let steps = try new.steps(from: old).map { try draft.run($0) }
    // A rebuild leaves out the equivalent indexes of its table.
    let unseen = SchemaDifference.silent(from: try draft.schema, to: new)
    parts =
      steps
      + SchemaDifference.removals(unseen).map {
        Part(
          detail: $0.detail, isDestructive: $0.isDestructive, sql: $0.sql, remarks: [], rebuild: nil
        )
      }
    let rest = try new.differences(from: draft.schema)
    guard rest.isEmpty else {
      throw Failure(
        "no steps make the first schema like the second: differences would remain, such as in “\(rest[0].table)”: \(rest[0])"
      )
    }
    isCheckable = (before, draft.canCheckForeignKeys)
    names = Set(
      [old, new].flatMap { schema in
        schema.tables.flatMap { [$0.name] + $0.indexes.map(\.name) } + schema.others.map(\.name)
      }.map(\.foldedName))
  }

  /// An unused name, made of this one.
  func freeName(_ name: String) -> String {
    var name = name
    while names.contains(name.foldedName) { name += "_" }
    return name
  }
}

/// An empty copy of a schema in memory, on which steps are tried.
private final class StepsDraft {
  private let db: Database
  private let statements = Lock<[String]>([])

  /// Creates the schema. Throws ``Failure`` if that fails.
  init(_ schema: Schema) throws {
    var configuration = Configuration()
    // Old files may contain strings in double quotes, which are accepted here.
    configuration.allowsDoubleQuotedStrings = true
    configuration.limits = [.attached: 0]
    let statements = statements
    configuration.trace = { event in statements.withLock { $0.append(event.sql) } }
    db = try Database(configuration: configuration)
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    for sql in schema.tables.flatMap(\.statements) + schema.others.compactMap(\.sql) {
      let statement = SQL(raw: sql).uncached
      do {
        try db.executeUpdate(statement)
      } catch let error as DatabaseError {
        throw Failure(
          "“\(sql.prefix(60))” of the first schema can't be recreated: \(error.message)")
      }
    }
  }

  var schema: Schema { get throws { try Schema(db) } }

  var canCheckForeignKeys: Bool {
    (try? db.value("SELECT count(*) FROM pragma_foreign_key_check", as: Int.self)) != nil
  }

  /// Runs a step, and returns it with the statements that it ran.
  func run(_ step: SchemaStep) throws -> StepsPlan.Part {
    let old = try step.rebuild.flatMap { try schema.table($0.table.name) }
    statements.withLock { $0 = [] }
    do {
      try step.execute(db)
    } catch let error as SchemaError {
      throw Failure("the step “\(step.detail)” isn't possible: \(error)")
    } catch let error as DatabaseError {
      throw Failure("the step “\(step.detail)” isn't possible: \(error.message)")
    }
    guard let (table, losing) = step.rebuild, let old else {
      return StepsPlan.Part(
        detail: step.detail, isDestructive: step.isDestructive, sql: step.sql, remarks: [],
        rebuild: nil)
    }
    let rebuild = StepsPlan.Rebuild(
      old: old, new: table, losing: losing,
      statements: statements.withLock { $0 }.filter(Self.changes),
      refused: try table.refusedRows(of: old, losing: losing, in: db))
    return StepsPlan.Part(
      detail: step.detail, isDestructive: step.isDestructive, sql: step.sql,
      remarks: rebuild.remarks, rebuild: rebuild)
  }

  /// Whether a statement changes something, and doesn't just read, or begin or end a transaction.
  private static func changes(_ sql: String) -> Bool {
    let first = sql.sqlTokens.first
    return ["alter", "create", "delete", "drop", "insert", "update"].contains {
      first?.isWord($0) == true
    }
  }
}

extension StepsPlan.Rebuild {
  fileprivate var remarks: [String] {
    var remarks = new.columnsWithoutValue(from: old).map {
      "To be decided: the value of existing rows for “\($0.name)”, which is NOT NULL and has no default. Until then this fails if there are rows."
    }
    remarks += new.columns.compactMap { column in
      guard column.isNotNull, column.generated == nil, let before = old.column(column.name),
        !before.isNotNull, column.name != old.rowIDColumn
      else { return nil }
      return
        "“\(column.name)” can't be NULL any more. To be decided: the value for rows that have NULL there. Until they are updated this fails."
    }
    let lost = old.columns.filter { new.column($0.name) == nil && $0.generated == nil }
    let added = new.columns.filter { old.column($0.name) == nil && $0.generated == nil }
    if let lost = lost.first, let added = added.first {
      remarks.append(
        "If “\(added.name)” is “\(lost.name)” renamed, first rename it by ALTER TABLE … RENAME COLUMN, then compare again."
      )
    }
    return remarks
  }
}

extension String {
  /// The statement with a semicolon, on a new line if a comment at the end would hide it.
  var terminated: String {
    let last = split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    return self + (last.contains("--") ? "\n;" : ";")
  }
}
