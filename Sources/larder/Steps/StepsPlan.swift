import Larder
import LarderSQLite
import LarderTerminal

/// The steps from one schema to another, with the statements that each of them is.
///
/// They are tried on an empty database in memory: what Larder runs there is what is written down, so that a
/// rebuild on paper is the one that migrations do.
struct StepsPlan {
  /// One step.
  struct Part {
    let step: SchemaStep
    /// What people have to look at, or to decide.
    let remarks: [String]
    /// Nil for a step that is one statement.
    let rebuild: Rebuild?
  }

  /// A table that is made anew.
  struct Rebuild {
    let old: TableSchema
    let new: TableSchema
    let losing: RebuildLosses
    /// What makes the new table, copies the rows, drops the old one, and makes the rest, in order.
    let statements: [String]
    let refused: [RefusedRows]
  }

  let parts: [Part]
  /// Whether foreign keys can be checked before the steps, and after them: a key that points to no key is an
  /// error of its own.
  let isCheckable: (before: Bool, after: Bool)
  /// The names that the schemas have.
  let names: Set<[UInt8]>

  var isEmpty: Bool { parts.isEmpty }
  var hasRebuild: Bool { parts.contains { $0.rebuild != nil } }

  /// Throws ``Failure`` where no steps lead from one to the other.
  init(from old: Schema, to new: Schema) throws {
    let draft = try StepsDraft(old)
    let before = draft.canCheckForeignKeys
    parts = try new.steps(from: old).map { try draft.run($0) }
    let rest = try new.differences(from: draft.schema)
    guard rest.isEmpty else {
      throw Failure(
        "no steps make the one like the other: there would still be differences, such as in “\(rest[0].table)”: \(rest[0])"
      )
    }
    isCheckable = (before, draft.canCheckForeignKeys)
    names = Set(
      [old, new].flatMap { schema in
        schema.tables.flatMap { [$0.name] + $0.indexes.map(\.name) } + schema.others.map(\.name)
      }.map(\.foldedName))
  }

  /// A name like this one that nothing has.
  func freeName(_ name: String) -> String {
    var name = name
    while names.contains(name.foldedName) { name += "_" }
    return name
  }
}

/// A database in memory with a schema and no rows, on which steps are tried.
private final class StepsDraft {
  private let db: Database
  private let statements = Lock<[String]>([])

  /// Throws ``Failure`` where the schema can't be made there.
  init(_ schema: Schema) throws {
    var configuration = Configuration()
    // What old files have kept is made again as it is.
    configuration.allowsDoubleQuotedStrings = true
    configuration.limits = [.attached: 0]
    let statements = statements
    configuration.trace = { event in statements.withLock { $0.append(event.sql) } }
    db = try Database(configuration: configuration)
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    for sql in schema.tables.flatMap(\.statements) + schema.others.compactMap(\.sql) {
      var statement = SQL(raw: sql)
      statement.isCacheable = false
      do {
        try db.executeUpdate(statement)
      } catch let error as DatabaseError {
        throw Failure("“\(sql.prefix(60))” of the first can't be made anew: \(error.message)")
      }
    }
  }

  var schema: Schema { get throws { try Schema(db) } }

  var canCheckForeignKeys: Bool {
    (try? db.value("SELECT count(*) FROM pragma_foreign_key_check", as: Int.self)) != nil
  }

  /// Does a step, and tells what it was.
  func run(_ step: SchemaStep) throws -> StepsPlan.Part {
    let old = try step.rebuild.flatMap { try schema.table($0.table.name) }
    statements.withLock { $0 = [] }
    do {
      try step.execute(db)
    } catch let error as SchemaError {
      throw Failure("this can't be done by a step, “\(step.detail)”: \(error)")
    } catch let error as DatabaseError {
      throw Failure("this can't be done by a step, “\(step.detail)”: \(error.message)")
    }
    guard let (table, losing) = step.rebuild, let old else {
      return StepsPlan.Part(step: step, remarks: [], rebuild: nil)
    }
    let rebuild = StepsPlan.Rebuild(
      old: old, new: table, losing: losing,
      statements: statements.withLock { $0 }.filter(Self.changes),
      refused: try table.refusedRows(of: old, losing: losing, in: db))
    return StepsPlan.Part(step: step, remarks: rebuild.remarks, rebuild: rebuild)
  }

  /// Whether a statement is one of those that change something, and none that looks, or begins or ends a
  /// transaction.
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
      "To be decided: what rows have in “\($0.name)”, which is NOT NULL and has no default. Until then this fails where there are rows."
    }
    remarks += new.columns.compactMap { column in
      guard column.isNotNull, column.generatedSQL == nil, let before = old.column(column.name),
        !before.isNotNull, column.name != old.rowIDColumn
      else { return nil }
      return
        "“\(column.name)” can't be NULL any more. To be decided: what rows get that have NULL there. Until they are updated this fails."
    }
    let lost = old.columns.filter { new.column($0.name) == nil && $0.generatedSQL == nil }
    let added = new.columns.filter { old.column($0.name) == nil && $0.generatedSQL == nil }
    if let lost = lost.first, let added = added.first {
      remarks.append(
        "If “\(added.name)” is “\(lost.name)” by another name, rename it before, by ALTER TABLE … RENAME COLUMN, and compare again."
      )
    }
    return remarks
  }
}

extension String {
  /// The statement with its end. What is kept may end with a comment, which would hide a semicolon.
  var terminated: String {
    let last = split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    return self + (last.contains("--") ? "\n;" : ";")
  }
}
