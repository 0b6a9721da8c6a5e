import Larder
import LarderPostgres
import LarderSQLite
import LarderTerminal

/// Copies the rows of one table, and compares those that arrived, in one transaction of the target.
struct TableCopy {
  let table: CopiedTable
  let source: Database
  let target: Database
  /// The target's name in messages.
  let targetName: String
  private let toServer: Bool
  /// The columns' kinds: copying a column's names for each value would take longer than the value.
  private let kinds: [CopyKind]

  init(table: CopiedTable, source: Database, target: Database, targetName: String) {
    self.table = table
    self.source = source
    self.target = target
    self.targetName = targetName
    toServer = target.engine != nil
    kinds = table.columns.map(\.kind)
  }

  // MARK: Sums

  func sumOfSource() throws -> TableSum { try sum(ofTarget: false) }

  /// The sum of the target's rows; nil if they hold values that a copy can't have written.
  func sumOfTarget() throws -> TableSum? {
    do {
      return try sum(ofTarget: true)
    } catch let misfit as Failure where misfit.status == .failed {
      return nil
    }
  }

  private func sum(ofTarget: Bool) throws -> TableSum {
    var sum = TableSum()
    try forEachRow(ofTarget: ofTarget) { rows, number in
      var hasher = Hasher()
      try forEachValue(rows, number, &hasher) { _, _ in }
      sum.add(hasher)
    }
    return sum
  }

  /// Calls a closure with each row of the target, or of the source, and the number of rows before it.
  private func forEachRow(
    ofTarget: Bool, progress: (Int) -> Void = { _ in }, _ body: (ResultSet, Int) throws -> Void
  ) throws {
    let rows =
      try ofTarget
      ? target.executeQuery(SQL(raw: table.targetSQL))
      : source.executeQuery(SQL(raw: table.sourceSQL))
    defer { rows.close() }
    var number = 0
    while try rows.next() {
      try body(rows, number)
      number += 1
      try pause(after: number, progress)
    }
  }

  private func pause(after rows: Int, _ progress: (Int) -> Void) throws {
    guard rows % 256 == 0 else { return }
    try Interruption.check()
    progress(rows)
  }

  /// Calls a closure with each value of a row, and adds the values to the row's hash.
  @inline(__always)
  private func forEachValue(
    _ rows: ResultSet, _ number: Int, _ hasher: inout Hasher,
    _ body: (Int, CopiedValue) throws -> Void
  ) throws {
    for index in kinds.indices {
      let kind = kinds[index]
      do {
        try CopiedValue.with(try rows.reader(at: index), kind, toServer: toServer) { value in
          value.hash(as: kind, into: &hasher)
          try body(index, value)
        }
      } catch let problem as CopyProblem {
        throw try failure(problem.problem, table.columns[index], rows, number)
      }
    }
  }

  private func failure(
    _ problem: String, _ column: CopiedColumn, _ rows: ResultSet, _ number: Int
  ) throws -> Failure {
    let key = table.schema.primaryKey.compactMap { name in
      table.columns.firstIndex { $0.name == name }
    }
    let row =
      key.isEmpty
      ? "row \((number + 1).grouped)"
      : try "the row with "
        + key.map { "\(table.columns[$0].name) = \(try rows.shownValue(at: $0).plain.cut(to: 60))" }
        .joined(separator: ", ")
    return Failure(
      """
      “\(table.name)”.“\(column.name)”, \(row): \(problem); nothing of “\(table.name)” was copied: change the \
      value, or copy the table by hand, with other types, and go on with --data-only
      """)
  }

  // MARK: Rows

  /// Copies all rows into an empty table. Throws ``Failure`` if the rows that arrive differ.
  ///
  /// - Parameter progress: called every 256 rows with the number of rows sent.
  func run(_ progress: (Int) -> Void) throws -> TableSum {
    let sent = toServer ? try copyToServer(progress) : try copyToFile(progress)
    let arrived = try sumOfTarget()
    guard sent == arrived else {
      let isWhole = arrived.map { $0.rows == sent.rows } ?? true
      if isWhole { try checkValues() }
      let counts =
        isWhole
        ? "the values aren't the same"
        : "\((arrived?.rows ?? 0).grouped) of \(sent.rows.grouped) rows arrived"
      throw Failure(
        "“\(table.name)”: \(counts) in \(targetName); nothing of it was copied: does the target table have triggers, or other types?"
      )
    }
    return sent
  }

  /// Throws ``Failure`` for the first value without an equal among its column's values that have arrived.
  private func checkValues() throws {
    for (index, column) in table.columns.enumerated() {
      func hash(_ rows: ResultSet) throws -> Int {
        var hasher = Hasher()
        try CopiedValue.with(try rows.reader(at: index), column.kind, toServer: toServer) {
          $0.hash(as: column.kind, into: &hasher)
        }
        return hasher.finalize()
      }
      var arrived: [Int: Int] = [:]
      try forEachRow(ofTarget: true) { rows, _ in
        do { arrived[try hash(rows), default: 0] += 1 } catch is CopyProblem {}
      }
      try forEachRow(ofTarget: false) { rows, number in
        let hash = try hash(rows)
        if let count = arrived[hash], count > 0 { return arrived[hash] = count - 1 }
        let value = try rows.shownValue(at: index).plain.cut(to: 60)
        throw try failure("“\(value)” becomes another value in \(targetName)", column, rows, number)
      }
    }
  }

  private func copyToServer(_ progress: (Int) -> Void) throws -> TableSum {
    var sum = TableSum()
    var failedRow: Int?
    var failedColumn: String?
    let rows = try source.executeQuery(SQL(raw: table.sourceSQL))
    defer { rows.close() }
    do {
      _ = try target.copyText(
        into: table.targetName, table.columns.map(\.targetName), failedRow: &failedRow,
        failedColumn: &failedColumn
      ) { line in
        guard try rows.next() else { return false }
        var hasher = Hasher()
        try forEachValue(rows, sum.rows, &hasher) { index, value in
          if index > 0 { line.append(UInt8(ascii: "\t")) }
          value.append(to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        sum.add(hasher)
        try pause(after: sum.rows, progress)
        return true
      }
    } catch let error as DatabaseError where !error.isInterrupt {
      let row = failedRow.map { ", row \(($0 + 1).grouped)" } ?? ""
      let column = failedColumn.map { ".“\($0)”" } ?? ""
      throw Failure("“\(table.name)”\(column)\(row): \(error.message); nothing of it was copied")
    }
    return sum
  }

  private func copyToFile(_ progress: (Int) -> Void) throws -> TableSum {
    var sum = TableSum()
    let names = table.columns.map(\.targetName).identifierList
    let marks = Array(repeating: "?", count: table.columns.count).joined(separator: ", ")
    let insert = FixedSQL(
      "INSERT INTO main.\(table.targetName.quotedIdentifier) (\(names)) VALUES (\(marks))")
    try forEachRow(ofTarget: false, progress: progress) { rows, number in
      var hasher = Hasher()
      do {
        _ = try target.run(insert) { arena in
          try forEachValue(rows, number, &hasher) { index, value in
            try value.bind(
              to: ParameterBinder(arena: arena, index: Int32(truncatingIfNeeded: index + 1)))
          }
        }
      } catch let error as DatabaseError where error.code == .constraint {
        throw Failure(
          "“\(table.name)”, row \((number + 1).grouped): \(error.message); nothing of it was copied"
        )
      }
      sum.add(hasher)
    }
    return sum
  }
}
