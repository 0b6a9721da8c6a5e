import Larder

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
      if records.count == 8192 { try storeBatch() }
    }
    try storeBatch()
    if summary.inserted + summary.changed > 0 { try R.textIndex?.rebuild(db) }
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
    let new = old.isEmpty ? nil : records.indices.filter { old[records[$0].key] == nil }
    // Without a choice, the arrays aren't copied.
    try insert(
      new.map { $0.map { records[$0] } } ?? records, new.map { $0.map { lines[$0] } } ?? lines)
    if !old.isEmpty { try update(old) }
    records.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
    bar.show(file.partRead)
  }

  private mutating func insert(_ records: [R], _ lines: [Int]) throws {
    var (records, lines) = (records, lines)
    while true {
      do {
        try R.insert(db, contentsOf: records)
        summary.inserted += records.count
        return
      } catch RecordError.batch(_, let index, let error as DatabaseError) where error.isConstraint {
        try skip(BadLine(line: lines.remove(at: index), problem: error.message))
        records.remove(at: index)
      }
    }
  }

  private mutating func update(_ old: [R.Key: R]) throws {
    for (var record, line) in zip(records, lines) {
      guard let before = old[record.key] else { continue }
      do {
        if try record.update(db, changedSince: before) {
          summary.changed += 1
        } else {
          summary.unchanged += 1
        }
      } catch let error as DatabaseError where error.isConstraint {
        try skip(BadLine(line: line, problem: error.message))
      }
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
