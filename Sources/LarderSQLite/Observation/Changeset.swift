import CSQLite

/// Changes of rows as bytes, which can be kept, sent and applied to another database with the same tables.
///
/// A row is known by its primary key: tables without one, and rows with NULL in it, aren't there. A changeset has
/// the values before too, by which conflicts show and which make it ``inverted()``; a patch set has the new
/// ones only and is smaller. See [The Session Extension](https://www.sqlite.org/sessionintro.html). All calls
/// throw ``UnsupportedByEngine`` where SQLite was built without it.
public struct Changeset: Hashable, Sendable {
  /// The bytes, in SQLite's own format.
  public let data: [UInt8]

  /// A changeset that was kept. What isn't one throws when it is used.
  public init(data: [UInt8]) { self.data = data }

  /// A changed row. Values that aren't in the changeset, such as those of columns that an update leaves as
  /// they are, are nil.
  public struct Row: Hashable, Sendable {
    /// What becomes of the row.
    public let operation: RowChange.Operation
    /// The table.
    public let table: String
    /// The places of the primary key's columns.
    public let primaryKey: [Int]
    /// The values before, by column; nil for all of a row that is inserted.
    public let old: [DatabaseValue?]
    /// The values after; nil for all of a row that is deleted.
    public let new: [DatabaseValue?]
  }

  /// What is in the way of a row when a changeset is applied.
  public struct Conflict: Hashable, Sendable {
    /// What kind of conflict it is.
    public enum Kind: Hashable, Sendable {
      /// The row isn't what it was before the change.
      case data
      /// The row isn't there.
      case notFound
      /// Another row has the primary key.
      case conflict
      /// Another constraint is broken.
      case constraint
      /// Foreign keys are, by all that was applied.
      case foreignKey
    }

    /// What kind of conflict it is.
    public let kind: Kind
    /// The change that can't be made as it is; nil for foreign keys.
    public let row: Row?
    /// The row that is in the way, for ``Kind/data`` and ``Kind/conflict``.
    public let found: [DatabaseValue]?
  }

  /// What is done about a conflict.
  public enum Resolution: Int32, Hashable, Sendable {
    /// The change isn't made.
    case omit
    /// The change is made all the same: for ``Conflict/Kind/data`` and ``Conflict/Kind/conflict`` only.
    case replace
    /// All is undone, and ``Changeset/apply(to:onConflict:)`` throws.
    case abort
  }

  /// The changeset that undoes this one. Throws for a patch set, and for bytes that are none of both.
  public func inverted() throws -> Changeset {
    let library = try checked()
    guard !isPatchset else {
      throw DatabaseError(
        .misuse, "a patch set has no values before to go back to; record without isPatchset")
    }
    return try Self.make { count, bytes in
      data.withUnsafeBytes {
        library.invert(Int32(clamping: $0.count), $0.baseAddress, count, bytes)
      }
    }
  }

  /// What this and then another one change, as one. Throws where the tables aren't the same, and for bytes that
  /// are no changesets.
  public func combined(with other: Changeset) throws -> Changeset {
    let library = try checked()
    _ = try other.checked()
    guard data.isEmpty || other.data.isEmpty || isPatchset == other.isPatchset else {
      throw DatabaseError(.misuse, "a changeset and a patch set can't be one")
    }
    return try withCopies(of: data, other.data) { first, second in
      try Self.make { count, bytes in
        library.concatenate(
          Int32(clamping: first.count), first.baseAddress, Int32(clamping: second.count),
          second.baseAddress, count, bytes)
      }
    }
  }

  /// Calls a closure for each changed row: all of a table, then those of the next. Throws what it throws, and
  /// `ResultCode.corrupt` for bytes that are no changeset.
  public func forEach(_ body: (Row) throws -> Void) throws {
    let library = try checked()
    try withCopies(of: data, []) { bytes, _ in
      var iterator: OpaquePointer?
      try Self.check(library.start(&iterator, Int32(clamping: bytes.count), bytes.baseAddress))
      do {
        while true {
          let code = library.next(iterator)
          if code == SQLITE_DONE { break }
          guard code == SQLITE_ROW else { try Self.check(code); break }
          try body(try Row(iterator, library))
        }
      } catch {
        _ = library.finish(iterator)
        throw error
      }
      try Self.check(library.finish(iterator))
    }
  }

  /// Makes the changes in a database, all of them or none.
  ///
  /// - Parameters:
  ///   - database: which has tables of these names, with the same primary keys and at least as many columns, or
  ///     else `ResultCode.schema` is thrown; tables that it doesn't have are left out.
  ///   - onConflict: decides about each conflict; what it throws undoes all. It can't use the database.
  ///
  /// Throws `ResultCode.constraintForeignKey` for rows that refer to none in the end, whatever the decision:
  /// nothing is omitted then; `ResultCode.abort` where that is the decision, `ResultCode.misuse` for a decision that the
  /// conflict doesn't allow, and `ResultCode.corrupt` for bytes that are no changeset.
  public func apply(
    to database: Database, onConflict: (Conflict) throws -> Resolution = { _ in .abort }
  ) throws {
    let library = try checked()
    let handle = try database.connection.sqlite("apply(to:onConflict:)")
    guard !database.connection.restrictions.contains(.writing) else {
      throw DatabaseError(.readOnly, "a read scope doesn't write; use inTransaction")
    }
    // Bytes that are none would be found out in the middle.
    try forEach { _ in }
    try checkTables(of: database)
    database.connection.follower?.willChangeUnseen()
    try withoutActuallyEscaping(onConflict) { onConflict in
      let handler = ConflictHandler(library, database.connection, onConflict)
      try database.inSavepoint { _ in
        let code = withCopies(of: data, []) { bytes, _ in
          library.apply(
            handle, Int32(clamping: bytes.count), bytes.baseAddress, nil,
            { context, kind, iterator in
              guard let context else { return Resolution.abort.rawValue }
              return Unmanaged<ConflictHandler>.fromOpaque(context).takeUnretainedValue()
                .resolve(kind, iterator).rawValue
            }, Unmanaged.passUnretained(handler).toOpaque())
        }
        if let error = handler.error { throw error }
        guard code == SQLITE_OK else { throw database.connection.error(code) }
      }
    }
  }

  /// The library, for bytes that it can read.
  private func checked() throws -> SessionExtension {
    guard ChangesetFormat(data) != nil else {
      throw DatabaseError(.corrupt, "the bytes aren't a changeset")
    }
    return try SessionExtension.required()
  }

  /// SQLite leaves tables out that don't fit, and tells a log alone.
  private func checkTables(of database: Database) throws {
    for table in ChangesetFormat(data)?.tables ?? [] where try database.tableExists(table.name) {
      let keys = try database.connection.looking {
        try database.executeQuery(
          "SELECT pk FROM pragma_table_info(\(table.name), 'main') ORDER BY cid"
        ).map { try $0.get(at: 0, as: Int.self) > 0 }
      }
      guard keys.count >= table.isKey.count, Array(keys.prefix(table.isKey.count)) == table.isKey,
        !keys.dropFirst(table.isKey.count).contains(true)
      else {
        throw DatabaseError(
          .schema,
          "the table \(table.name) has fewer columns, or another key, than that of the changeset")
      }
    }
  }

  /// Its tables begin with P, those of a changeset with T.
  private var isPatchset: Bool { data.first == UInt8(ascii: "P") }

  // MARK: Memory

  /// SQLite takes pointers to what it could change, and doesn't.
  private func withCopies<T>(
    of first: [UInt8], _ second: [UInt8],
    _ body: (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> T
  ) rethrows -> T {
    var (first, second) = (first, second)
    return try first.withUnsafeMutableBytes { first in
      try second.withUnsafeMutableBytes { second in try body(first, second) }
    }
  }

  /// Takes over bytes that SQLite allocates.
  static func make(
    _ body: (UnsafeMutablePointer<Int32>, SessionExtension.Buffer) throws -> Int32
  ) throws -> Changeset {
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    let code = try body(&count, &bytes)
    defer { sqlite3_free(bytes) }
    try check(code)
    return Changeset(
      data: Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count))))
  }

  static func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    let reason =
      code == SQLITE_SCHEMA
      ? "the table of one has other columns, or another key, than that of the other"
      : String(cString: sqlite3_errstr(code))
    throw DatabaseError(ResultCode(rawValue: code), "the changeset: \(reason)")
  }
}

extension Changeset.Row {
  /// The row that an iterator stands on, which is valid until the iterator moves on.
  init(_ iterator: OpaquePointer?, _ library: SessionExtension) throws {
    var table: UnsafePointer<CChar>?
    var (count, operation, indirect): (Int32, Int32, Int32) = (0, 0, 0)
    try Changeset.check(library.operation(iterator, &table, &count, &operation, &indirect))
    var key: UnsafeMutablePointer<UInt8>?
    try Changeset.check(library.primaryKey(iterator, &key, &count))
    self.operation = .init(code: operation)
    self.table = table.map { String(cString: $0) } ?? ""
    primaryKey = (0..<Int(count)).filter { key?[$0] != 0 }
    old =
      operation == SQLITE_INSERT
      ? Array(repeating: nil, count: Int(count))
      : try Changeset.values(count) { library.oldValue(iterator, $0, $1) }
    new =
      operation == SQLITE_DELETE
      ? Array(repeating: nil, count: Int(count))
      : try Changeset.values(count) { library.newValue(iterator, $0, $1) }
  }
}

extension Changeset {
  fileprivate static func values(
    _ count: Int32, _ value: (Int32, SessionExtension.Result) -> Int32
  ) throws -> [DatabaseValue?] {
    try (0..<count).map { index in
      var found: OpaquePointer?
      try check(value(index, &found))
      guard let found else { return nil }
      return try DatabaseValue(
        column: ColumnReader(
          value: found, format: StorageFormat(dateFormat: .iso8601, isUTF16: false)))
    }
  }

  /// Asks a closure about conflicts, and keeps what it throws.
  private final class ConflictHandler {
    private let library: SessionExtension
    private let connection: Connection
    private let onConflict: (Conflict) throws -> Resolution
    private(set) var error: (any Error)?

    init(
      _ library: SessionExtension, _ connection: Connection,
      _ onConflict: @escaping (Conflict) throws -> Resolution
    ) {
      self.library = library
      self.connection = connection
      self.onConflict = onConflict
    }

    func resolve(_ code: Int32, _ iterator: OpaquePointer?) -> Resolution {
      do {
        let conflict = try conflict(code, iterator)
        connection.block(.hook)
        defer { connection.unblock(.hook) }
        let resolution = try onConflict(conflict)
        if resolution == .replace, conflict.found == nil {
          throw DatabaseError(.misuse, "nothing is there that could be replaced: \(conflict.kind)")
        }
        if conflict.kind == .foreignKey, resolution == .omit {
          throw DatabaseError(
            .constraintForeignKey, "rows that the changeset leaves refer to rows that aren't there")
        }
        if resolution == .abort {
          throw DatabaseError(
            .abort, "a conflict of the changeset (\(conflict.kind)) was decided by .abort")
        }
        return resolution
      } catch {
        self.error = self.error ?? error
        return .abort
      }
    }

    private func conflict(_ code: Int32, _ iterator: OpaquePointer?) throws -> Conflict {
      let kinds: [Conflict.Kind] = [.data, .notFound, .conflict, .constraint, .foreignKey]
      let kind = kinds.indices.contains(Int(code) - 1) ? kinds[Int(code) - 1] : .constraint
      guard kind != .foreignKey else { return Conflict(kind: kind, row: nil, found: nil) }
      let row = try Row(iterator, library)
      let hasFound = kind == .data || kind == .conflict
      let found =
        hasFound
        ? try values(Int32(row.old.count)) { library.conflictValue(iterator, $0, $1) } : nil
      return Conflict(kind: kind, row: row, found: found?.map { $0 ?? .null })
    }
  }
}
