import Larder
import LarderTerminal

/// Puts the records of a file into their table: new ones are inserted, others become as the file has
/// them, and those that are the same stay untouched.
struct Importer<R: ImportedRecord> {
  private let db: Database
  private let file: CSVFile
  /// Whether bad lines are reported and left out, instead of ending the import.
  private let skipsBad: Bool
  /// Nothing needs to be looked up in a table that was empty.
  private let wasEmpty: Bool
  private var bar = ProgressBar(R.plural.padded(to: 10))
  /// Records that are stored together, and the lines that they begin on.
  private var records: [R] = []
  private var lines: [Int] = []
  private var summary: ImportSummary

  init(_ db: Database, _ file: CSVFile, skipsBad: Bool) throws {
    self.db = db
    self.file = file
    self.skipsBad = skipsBad
    wasEmpty = try !R.all.exists(db)
    summary = ImportSummary(file: file.path, kind: R.plural)
  }

  /// Reads the file to its end.
  mutating func run() throws -> ImportSummary {
    defer { bar.clear() }
    let known = try KnownCountries(db)
    var seen: Set<R.Key> = []
    while let fields = try nextFields() {
      do {
        let record = try R(fields, known)
        guard seen.insert(record.key).inserted else {
          throw fields.bad("the key \(record.key) was there before")
        }
        records.append(record)
        lines.append(file.reader.line)
      } catch let bad as BadLine {
        try skip(bad)
      }
      if records.count == 4096 { try storeBatch() }
    }
    try storeBatch()
    return summary
  }

  private mutating func nextFields() throws -> CSVFields? {
    while true {
      do {
        return try file.next()
      } catch let bad as BadLine {
        try skip(bad)
      }
    }
  }

  private mutating func skip(_ bad: BadLine) throws {
    let failure = file.failure(bad)
    guard skipsBad else { throw failure }
    bar.clear()
    Output.note("gazetteer: \(failure.message); left out")
    summary.skipped += 1
  }

  private mutating func storeBatch() throws {
    try Interruption.check()
    let present = wasEmpty ? [] : try R.fetchAll(db, keys: records.map(\.key))
    let old = Dictionary(present.map { ($0.key, $0) }) { first, _ in first }
    for (record, line) in zip(records, lines) {
      do {
        // On a server what fails would abort the transaction.
        try skipsBad
          ? db.inSavepoint { _ in try store(record, instead: old[record.key]) }
          : store(record, instead: old[record.key])
      } catch let error as DatabaseError where error.code == .constraint {
        try skip(BadLine(line: line, problem: error.message))
      }
    }
    records.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
    bar.show(file.partRead)
  }

  /// Stores one record. Larder inserts many with fewer statements, but each of these keeps all pages
  /// that it touches, to be able to go back: with as many indexes as cities have, that costs more
  /// than it saves (measured: a third).
  private mutating func store(_ record: R, instead old: R?) throws {
    var record = record
    guard let old else {
      try record.insert(db)
      summary.inserted += 1
      return
    }
    if try record.update(db, changedSince: old) {
      summary.changed += 1
    } else {
      summary.unchanged += 1
    }
  }
}

/// What became of the records of a file.
struct ImportSummary: Encodable {
  let file: String
  let kind: String
  var inserted = 0
  var changed = 0
  var unchanged = 0
  var skipped = 0
}
