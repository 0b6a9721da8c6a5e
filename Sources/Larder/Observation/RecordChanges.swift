import LarderSQLite

/// A change of a record: it was inserted, updated or deleted.
public enum RecordChange<Model: Sendable>: Sendable {
  /// The record is new.
  case inserted(Model)
  /// The record had other values before.
  case updated(from: Model, to: Model)
  /// The record doesn't exist any more.
  case deleted(Model)

  /// The record as it is now; nil for one that was deleted.
  public var new: Model? {
    switch self {
    case .inserted(let record), .updated(_, let record): record
    case .deleted: nil
    }
  }

  /// The record as it was; nil for one that was inserted.
  public var old: Model? {
    switch self {
    case .deleted(let record), .updated(let record, _): record
    case .inserted: nil
    }
  }
}

extension RecordChange: Equatable where Model: Equatable {}
extension RecordChange: Hashable where Model: Hashable {}

extension DatabaseAccess {
  /// A feed of the committed changes of a record's table, transaction by transaction. It works like
  /// `changes(of:limit:byteLimit:beginning:)` for tables by their names.
  ///
  /// ```swift
  /// for try await transaction in pool.changes(of: City.self) {
  ///   for case .updated(let old, let new) in transaction.changes where old.name != new.name {
  ///     print("\(old.name) is called \(new.name) now")
  ///   }
  /// }
  /// ```
  ///
  /// The feed throws what the untyped feed throws, and the error of reading a row that isn't a record. A table
  /// of PostgreSQL has to report whole rows: `ALTER TABLE city REPLICA IDENTITY FULL`.
  public func changes<R: Record>(
    of type: R.Type, limit: Int = 100_000, byteLimit: Int = 64 << 20,
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) -> ChangeFeed<RecordChange<R>> {
    ChangeFeed(
      of: [R.core.nameInDatabase], access: self, limit: limit, byteLimit: byteLimit,
      needsWholeRows: true, beginning: beginning
    ) { format in
      let decoder = try RecordDecoder(format)
      return { try decoder.change(R.self, $0.columns, $0.old, $0.new) }
    }
  }

  /// The same for several types of records, which casts distinguish: `if let city = change.new as? City`.
  @_disfavoredOverload
  public func changes(
    of types: any Record.Type..., limit: Int = 100_000, byteLimit: Int = 64 << 20,
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) -> ChangeFeed<RecordChange<any Record>> {
    let tables = types.map { $0.core.nameInDatabase }
    let known = Dictionary(grouping: types) { $0.core.name.foldedName }
    return ChangeFeed(
      of: tables, access: self, limit: limit, byteLimit: byteLimit, needsWholeRows: true,
      beginning: beginning
    ) { format in
      let decoder = try RecordDecoder(format)
      return { row in
        // Several schemas, or attached databases, may have a table of the name.
        let named = known[row.table.foldedName] ?? []
        let type =
          named.first { $0.core.schema?.foldedName == row.database.foldedName }
          ?? (named.count == 1 ? named[0] : named.first { $0.core.schema == nil })
        guard let type else {
          throw DatabaseError(.internal, "no record for the table \(row.database).\(row.table)")
        }
        return try type.change(row, decoder)
      }
    }
  }
}

extension TableCore {
  /// The table's name behind that of SQLite's database, so that a dot in it isn't taken for the end of one.
  fileprivate var nameInDatabase: String { "\(schema ?? "main").\(name)" }
}

extension Record {
  package static var tableName: String { table.name }

  fileprivate static func change(
    _ row: RowChange, _ decoder: RecordDecoder
  ) throws -> RecordChange<any Record> {
    switch try decoder.change(Self.self, row.columns, row.old, row.new) {
    case .inserted(let record): .inserted(record)
    case .updated(let old, let new): .updated(from: old, to: new)
    case .deleted(let record): .deleted(record)
    }
  }
}

/// Makes records from rows that are given as values. A statement of a database of its own returns the
/// values, which are then read like a table's.
package final class RecordDecoder {
  private let database: Database
  private var last: (columns: [String], sql: SQL)?

  package init(_ format: DateFormat) throws {
    var configuration = Configuration()
    configuration.dateFormat = format
    database = try Database(configuration: configuration)
  }

  func change<R: Record>(_ type: R.Type, _ row: RowChange) throws -> RecordChange<R> {
    try change(type, row.columns, row.old, row.new)
  }

  package func change<R: Record>(
    _ type: R.Type, _ columns: [String], _ old: [DatabaseValue]?, _ new: [DatabaseValue]?
  ) throws -> RecordChange<R> {
    switch (old, new) {
    case (let old?, let new?):
      .updated(from: try record(columns, old), to: try record(columns, new))
    case (let old?, nil): .deleted(try record(columns, old))
    case (nil, let new): .inserted(try record(columns, new ?? []))
    }
  }

  private func record<R: Record>(_ columns: [String], _ values: [DatabaseValue]) throws -> R {
    var sql = statement(of: columns)
    sql.values = values
    guard let record = try R.fetchAll(database, sql: sql).first else {
      throw DatabaseError(.internal, "a row can't be read")
    }
    return record
  }

  /// A SELECT of parameters as columns. Its text is made once: making it took half of a row's time.
  private func statement(of columns: [String]) -> SQL {
    if let last, last.columns.elementsEqual(columns, by: { $0.isSame(as: $1) }) { return last.sql }
    let terms = columns.map { "? AS \($0.quotedIdentifier)" }
    let sql = SQL(raw: "SELECT \(terms.joined(separator: ", "))")
    last = (columns, sql)
    return sql
  }
}
