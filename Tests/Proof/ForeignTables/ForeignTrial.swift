import Larder
import ProofSupport
import TestSupport

/// One table, and what is done with it.
final class ForeignTrial<R: ForeignRecord> {
  let db: Database
  let table: ForeignTable
  /// The rows that there have to be.
  var rows: [R] = []
  var tally: ForeignTally

  init(_ db: Database, _ table: ForeignTable, _ tally: ForeignTally) {
    self.db = db
    self.table = table
    self.tally = tally
  }

  static func run(
    _ db: Database, _ random: inout SeededGenerator, _ tally: inout ForeignTally
  ) throws {
    var table = ForeignTable(R.self, &random)
    let drop = "DROP TABLE IF EXISTS \(R.table.name.quotedIdentifier)"
    try db.executeStatements(SQL(raw: drop))
    // Some combinations aren't SQLite's.
    while (try? db.executeStatements(SQL(raw: table.sql))) == nil {
      try db.executeStatements(SQL(raw: drop))
      table = ForeignTable(R.self, &random)
    }
    let trial = ForeignTrial(db, table, tally)
    do {
      try trial.insertByHand(&random)
      for _ in 0..<10 { try trial.doSomething(&random) }
    } catch {
      throw WrongAnswer(description: "\(error) with \(table.sql)")
    }
    if table.isPlain { trial.tally.plain += 1 }
    tally = trial.tally
  }

  // MARK: By hand

  private var quotedTable: String { R.table.name.quotedIdentifier }

  /// Rows of another program, of which those stay that have values of the record's.
  private func insertByHand(_ random: inout SeededGenerator) throws {
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let record = R(id: R.key(&random), body: ForeignBody(&random))
      let places = table.present.indices.filter { table.present[$0] && !table.generated[$0] }
      let names = places.map { R.columnNames[$0].quotedIdentifier }.joined(separator: ", ")
      let marks = places.map { _ in "?" }.joined(separator: ", ")
      _ = try? db.executeUpdate(
        SQL(raw: "INSERT INTO \(quotedTable) (\(names)) VALUES (\(marks))"),
        arguments: Arguments(places.map { record.values[$0] }))
    }
    guard let found = try readByHand(), found.allSatisfy({ $0.keyValue != .null }) else {
      try db.executeUpdate(SQL(raw: "DELETE FROM \(quotedTable)"))
      return
    }
    rows = found
  }

  /// The values that are stored, column by column, NULL for those that aren't there.
  private func storedRows() throws -> [[DatabaseValue]] {
    let names = zip(R.columnNames, table.present).map { $1 ? $0.quotedIdentifier : "NULL" }
    return try db.executeQuery(
      SQL(raw: "SELECT \(names.joined(separator: ", ")) FROM \(quotedTable)")
    ).map { row in try names.indices.map { try row.get(at: $0) } }
  }

  /// The records of all rows; nil where a value is none of theirs, or a column isn't there.
  private func readByHand() throws -> [R]? {
    let stored = try storedRows()
    let found = stored.compactMap { R($0) }
    return found.count == stored.count ? found : nil
  }

  private func cells(_ row: [DatabaseValue]) -> [String] {
    row.indices.filter { table.present[$0] }.map { R.cell($0, row[$0]) ?? "another: \(row[$0])" }
  }

  private func cells(_ record: R) -> [String] {
    let cells = record.cells
    return cells.indices.filter { table.present[$0] }.map { cells[$0] }
  }

  private func sorted(_ rows: [[String]]) -> [[String]] {
    rows.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private func check(_ what: String) throws {
    let found = sorted(try storedRows().map(cells))
    let expected = sorted(rows.map(cells))
    if found != expected {
      throw WrongAnswer(description: "\(what): \(found) is stored for \(expected)")
    }
  }

  // MARK: What is done

  /// Does something, by which the rows have to become others, or which throws.
  ///
  /// - Parameter mayFail: whether the table may refuse it, though it is as the record needs it.
  private func attempt(
    _ what: String, mayFail: Bool = false, _ body: (inout [R]) throws -> Void
  ) throws {
    let before = rows
    do {
      try body(&rows)
      tally.done += 1
    } catch let wrong as WrongAnswer {
      throw wrong
    } catch {
      rows = before
      tally.refused += 1
      if table.isPlain, !mayFail {
        throw WrongAnswer(description: "\(what) throws \(error)")
      }
    }
    try check(what)
  }

  private func expect(_ what: String, _ found: [R], _ expected: [R]) throws {
    if sorted(found.map(\.cells)) != sorted(expected.map(\.cells)) {
      throw WrongAnswer(description: "\(what) finds \(found) for \(expected)")
    }
  }

  /// The rows that a record's key means.
  private func places(of record: R, in rows: [R]) -> [Int] {
    rows.indices.filter { isSameKey(rows[$0], record) }
  }

  private func isSameKey(_ first: R, _ second: R) -> Bool {
    func key(_ record: R) -> [UInt8] {
      if case .text(let text) = record.keyValue { return table.folded(text, in: 0) }
      return Array("\(record.keyValue)".utf8)
    }
    guard key(first) == key(second) else { return false }
    return R.keyNames.count == 1
      || table.folded(first.body.name, in: 1) == table.folded(second.body.name, in: 1)
  }

  private func doSomething(_ random: inout SeededGenerator) throws {
    // Mostly one of those that are there.
    var record = R(id: R.key(&random), body: ForeignBody(&random))
    if random.chance(60), let known = rows.randomElement(using: &random) {
      record.id = known.id
      if R.keyNames.count > 1 { record.body.name = known.body.name }
    }
    let isNumbered = record.keyValue == .null
    let known = places(of: record, in: rows)
    switch Int.random(in: 0..<14, using: &random) {
    case 0: try insert(record, mayFail: !known.isEmpty)
    case 1:
      try attempt("inserted", mayFail: !known.isEmpty) { $0.append(try record.inserted(db)) }
    case 2:
      let other = R(id: R.key(&random), body: ForeignBody(&random))
      let mayFail =
        !known.isEmpty || !places(of: other, in: rows + [record]).isEmpty
      if !isNumbered, other.keyValue != .null {
        try attempt("a batch", mayFail: mayFail) {
          try R.insert(db, contentsOf: [record, other])
          $0 += [record, other]
        }
      }
    case 3: try update("update", record) { try record.update(db) as Void }
    case 4:
      // Only some of its columns.
      guard R.keyNames.count == 1, let place = known.first else { break }
      let (name, age) = (record.body.name, record.body.age)
      record.body = rows[place].body
      (record.body.name, record.body.age) = (name, age)
      try update("update of two columns", record) {
        try record.update(db, R.columns.name, R.columns.age) as Void
      }
    case 5: try update("updated", record) { record = try record.updated(db) }
    case 6: try save("save", record, isNumbered) { try $0.save(db) as Void }
    case 7: try save("upsert", record, isNumbered) { try $0.upsert(db) as Void }
    case 8:
      if isNumbered { break }
      try attempt("delete") { rows in
        let wasThere = try record.delete(db)
        try WrongAnswer.check(wasThere, !known.isEmpty, "delete")
        if known.count > 1 { throw WrongAnswer(description: "one of several rows is deleted") }
        for place in known { rows.remove(at: place) }
      }
    case 9:
      if isNumbered { break }
      try attempt("find") { rows in
        let found = try R.fetchOne(db, key: record)
        guard let found else {
          return try WrongAnswer.check(true, known.isEmpty, "nothing is found")
        }
        if !known.contains(where: { rows[$0].cells == found.cells }) {
          throw WrongAnswer(description: "\(found) is found for \(record)")
        }
      }
    case 10: try changeByQuery(record.body, &random)
    default: try read(record.body)
    }
  }

  private func insert(_ record: R, mayFail: Bool) throws {
    try attempt("insert", mayFail: mayFail) { rows in
      var record = record
      try record.insert(db)
      if record.keyValue == .null {
        throw WrongAnswer(description: "a record is inserted without its key")
      }
      rows.append(record)
    }
  }

  private func update(
    _ what: String, _ record: R, _ body: () throws -> Void
  ) throws {
    let known = places(of: record, in: rows)
    try attempt(what, mayFail: known.isEmpty) { rows in
      try body()
      guard known.count == 1 else {
        throw WrongAnswer(description: "\(what): \(known.count) rows have the key")
      }
      replace(&rows[known[0]], by: record)
    }
  }

  /// Its key stays, as it isn't written.
  private func replace(_ row: inout R, by record: R) {
    let name = row.body.name
    row.body = record.body
    if R.keyNames.count > 1 { row.body.name = name }
  }

  private func save(
    _ what: String, _ record: R, _ isNumbered: Bool, _ body: (inout R) throws -> Void
  ) throws {
    let known = isNumbered ? [] : places(of: record, in: rows)
    try attempt(what) { rows in
      var record = record
      try body(&record)
      if record.keyValue == .null {
        throw WrongAnswer(description: "\(what) leaves a record without its key")
      }
      if known.count > 1 { throw WrongAnswer(description: "\(what): one of several rows") }
      if let place = known.first { replace(&rows[place], by: record) } else { rows.append(record) }
    }
  }

  // MARK: Queries

  private func changeByQuery(
    _ body: ForeignBody, _ random: inout SeededGenerator
  ) throws {
    if random.chance(50) {
      try attempt("a query's deletion") { rows in
        try R.filter { $0.age == body.age }.delete(db)
        rows.removeAll { $0.body.age == body.age }
      }
    } else if R.keyNames.count == 1 {
      try attempt("a query's update") { rows in
        try R.filter { $0.isOpen == body.isOpen }.update(db) {
          $0.name = body.name
          $0.price = body.price
          $0.height = body.height
        }
        for index in rows.indices where rows[index].body.isOpen == body.isOpen {
          rows[index].body.name = body.name
          rows[index].body.price = body.price
          rows[index].body.height = body.height
        }
      }
    }
  }

  private func read(_ body: ForeignBody) throws {
    let name = table.folded(body.name, in: 1)
    let fold = table
    func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool {
      left.lexicographicallyPrecedes(right)
    }
    try compare("all", { try R.fetchAll($0) }) { _ in true }
    try compare("by name", { try R.filter { $0.name == body.name }.fetchAll($0) }) {
      fold.folded($0.body.name, in: 1) == name
    }
    try compare("by less names", { try R.filter { $0.name < body.name }.fetchAll($0) }) {
      isLess(fold.folded($0.body.name, in: 1), name)
    }
    try compare("by age", { try R.filter { $0.age == body.age }.fetchAll($0) }) {
      $0.body.age == body.age
    }
    if let age = body.age {
      try compare("by greater ages", { try R.filter { $0.age > age }.fetchAll($0) }) {
        $0.body.age.map { $0 > age } ?? false
      }
    }
    if let height = body.height {
      try compare("by heights", { try R.filter { $0.height <= height }.fetchAll($0) }) {
        $0.body.height.map { $0 <= height } ?? false
      }
    }
    try compare("by truth", { try R.filter { $0.isOpen }.fetchAll($0) }) { $0.body.isOpen }
    try compare("by price", { try R.filter { $0.price == body.price }.fetchAll($0) }) {
      $0.body.price == body.price
    }
    try compare("by lower prices", { try R.filter { $0.price < body.price }.fetchAll($0) }) {
      $0.body.price < body.price
    }
    try compare("by note", { try R.filter { $0.note == body.note }.fetchAll($0) }) {
      $0.body.note == body.note
    }
    try attempt("order") { rows in
      let ordered = try R.order { $0.age }.fetchAll(db)
      let ages = ordered.map { $0.body.age ?? .min }
      try WrongAnswer.check(ages, ages.sorted(), "order")
    }
  }

  private func compare(
    _ what: String, _ query: (Database) throws -> [R], _ isMeant: (R) -> Bool
  ) throws {
    try attempt(what) { rows in
      let found = try query(db)
      // What another program has left out is read by nobody.
      try expect(what, found, rows.filter(isMeant))
    }
  }
}

extension ForeignRecord {
  /// The record with another's key.
  fileprivate static func fetchOne(_ db: Database, key: Self) throws -> Self? {
    if keyNames.count > 1 { return try fetchOne(db, key.id, key.body.name) }
    return try fetchOne(db, key.id)
  }
}
