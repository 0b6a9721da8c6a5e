import Larder
import LarderSQLite

/// A batch of records that is inserted. A failed statement aborts the transaction, a missing key's column is
/// left out, and many rows may be copied (COPY).
struct PostgresBatch {
  /// The fewest rows for COPY. Fewer are inserted in the time that COPY takes to begin.
  private static let fewestCopied = 64

  private let core: TableCore
  private let records: RecordBuffer
  private let db: Database
  /// Whether rows that break a constraint are skipped.
  private let ignores: Bool
  /// The column that is left out; nil for none.
  private var leftOut: Int?
  /// Records with a foreign key to a row that didn't exist when it was their turn.
  private var postponed: [(index: Int, leftOut: Int?, error: DatabaseError)] = []

  init(core: TableCore, records: RecordBuffer, db: Database, ignores: Bool) {
    self.core = core
    self.records = records
    self.db = db
    self.ignores = ignores
  }

  /// Inserts the records, in runs that either all have a key or all lack one.
  mutating func insert() throws {
    var index = 0
    while index < records.count {
      try core.passKeys(before: records[index], db)
      leftOut = try core.missingKey(of: records[index], db)
      var end = index + 1
      while end < records.count, try core.missingKey(of: records[end], db) == leftOut { end += 1 }
      let mayCopy = !ignores && end - index >= Self.fewestCopied
      if try !(mayCopy && copy(index..<end)) { try insert(index..<end) }
      try core.noteKey((index..<end).compactMap { try core.rowKey(of: records[$0], db) }.max(), db)
      index = end
    }
    try insertPostponed()
  }

  private func statement(rows: Int) -> RecordStatement {
    core.insertion(rows: rows, leavingOut: leftOut, ignoring: ignores, db)
  }

  private func failure(_ error: any Error, at index: Int) -> any Error {
    RecordError.ofBatch(core.name, at: records.first + index, error)
  }

  // MARK: COPY

  /// Copies records (COPY). Returns false, with nothing done, if that isn't possible: an INSERT is tried
  /// then, which reports what is wrong with a record. If the server has named the failed row, this throws.
  ///
  /// Columns that aren't copied get their defaults, as in an INSERT.
  private func copy(_ range: Range<Int>) throws -> Bool {
    let statement = statement(rows: 1)
    if statement.order.isEmpty { return false }
    var failedRow: Int?
    do {
      try db.inSavepoint { db in
        let columns = statement.order.map { core.columns[$0].name }
        var next = range.lowerBound
        try db.copy(
          into: core.quotedName, columns, by: statement.sql, failedRow: &failedRow
        ) { arena in
          guard next < range.upperBound else { return false }
          try core.layout.bind(records[next], statement.order, to: arena)
          next += 1
          return true
        }
      }
      return true
    } catch let error as DatabaseError {
      if let failedRow, error.code == .constraint {
        throw failure(error, at: range.lowerBound + failedRow)
      }
      // COPY isn't possible for views, tables with row-level security, and the like.
      guard db.isOpen, error.code != .busy, error.code != .interrupt else { throw error }
      return false
    } catch {
      return false
    }
  }

  // MARK: Statements

  /// Inserts records by statements of several rows.
  private mutating func insert(_ range: Range<Int>) throws {
    // DEFAULT VALUES is for one row only.
    let width = statement(rows: 1).order.count
    let most = width == 0 ? 1 : max(1, min(TableCore.mostRows, db.limit(.variables) / width))
    var index = range.lowerBound
    while index < range.upperBound {
      let left = range.upperBound - index
      // Few rows are one statement. More are split by powers of two, so that there are few different
      // statements.
      var rows = left < Self.fewestCopied && left <= most ? left : 1
      while rows < left, rows * 2 <= min(most, left) { rows *= 2 }
      try insertAtOnce(index..<index + rows)
      index += rows
    }
  }

  private mutating func insertAtOnce(_ range: Range<Int>) throws {
    do {
      try run(range)
    } catch let error as DatabaseError where error.code == .constraint {
      if range.count > 1 {
        for index in range { try insertAtOnce(index..<index + 1) }
      } else if error.extendedCode == .constraintForeignKey {
        postponed.append((range.lowerBound, leftOut, error))
      } else {
        throw failure(error, at: range.lowerBound)
      }
    }
  }

  /// Runs one statement, in a savepoint.
  private func run(_ range: Range<Int>) throws {
    let statement = statement(rows: range.count)
    let width = Int32(truncatingIfNeeded: statement.order.count)
    var bound = range.lowerBound
    do {
      _ = try db.inSavepoint { db in
        try db.run(statement.sql) { arena in
          for index in range {
            bound = index
            try core.layout.bind(
              records[index], statement.order, to: arena,
              from: Int32(truncatingIfNeeded: index - range.lowerBound) * width + 1)
          }
          bound = range.upperBound
        }
      }
    } catch  where bound < range.upperBound {
      let error = core.describe(error, writing: records[bound], db, sql: statement.text)
      throw failure(error, at: bound)
    }
  }

  /// Inserts the postponed records, which refer to later ones. Throws for the first whose reference still
  /// fails.
  private mutating func insertPostponed() throws {
    while !postponed.isEmpty {
      let waiting = postponed
      postponed = []
      for record in waiting {
        leftOut = record.leftOut
        try insertAtOnce(record.index..<record.index + 1)
      }
      if let first = postponed.first, postponed.count == waiting.count {
        throw failure(first.error, at: first.index)
      }
    }
  }
}
