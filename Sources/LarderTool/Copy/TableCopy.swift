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

  private var toServer: Bool { target.engine != nil }

  // MARK: Sums

  /// The sum of the source's rows.
  func sumOfSource() throws -> TableSum { try sum(of: table.sourceSQL, in: source) }

  /// The sum of the target's rows; nil if they hold values that a copy can't have written.
  func sumOfTarget() throws -> TableSum? {
    do {
      return try sum(of: table.targetSQL, in: target)
    } catch let misfit as Failure where misfit.status == .failed {
      return nil
    }
  }

  private func sum(of sql: String, in db: Database) throws -> TableSum {
    var sum = TableSum()
    let rows = try db.executeQuery(SQL(raw: sql))
    defer { rows.close() }
    while try rows.next() {
      var hasher = Hasher()
      try forEachValue(rows, sum.rows, &hasher) { _, _ in }
      sum.add(hasher)
      if sum.rows % 256 == 0 { try Interruption.check() }
    }
    return sum
  }

  /// Calls a closure with each value of a row, and adds the values to the row's hash.
  @inline(__always)
  private func forEachValue(
    _ rows: ResultSet, _ number: Int, _ hasher: inout Hasher,
    _ body: (Int, CopiedValue) throws -> Void
  ) throws {
    for (index, column) in table.columns.enumerated() {
      do {
        try CopiedValue.with(try rows.reader(at: index), column.kind, toServer: toServer) { value in
          value.hash(as: column.kind, into: &hasher)
          try body(index, value)
        }
      } catch let problem as CopyProblem {
        throw try failure(problem.problem, column, rows, number)
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
      if isWhole, let difference = try difference() { throw difference }
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

  /// Finds the first value without an equal among its column's values that have arrived.
  private func difference() throws -> Failure? {
    for (index, column) in table.columns.enumerated() {
      var arrived: [Int: Int] = [:]
      _ = try firstValue(of: index, targetSide: true) { hash, _, _ in
        arrived[hash, default: 0] += 1
        return nil
      }
      let found = try firstValue(of: index, targetSide: false) { hash, rows, number in
        if let count = arrived[hash], count > 0 {
          arrived[hash] = count - 1
          return nil
        }
        let value = try rows.shownValue(at: index).plain.cut(to: 60)
        return try failure(
          "“\(value)” becomes another value in \(targetName)", column, rows, number)
      }
      if let found { return found }
    }
    return nil
  }

  /// Calls a closure with the hash of each value of a column, until it returns a failure.
  private func firstValue(
    of index: Int, targetSide: Bool, _ body: (Int, ResultSet, Int) throws -> Failure?
  ) throws -> Failure? {
    let rows =
      try targetSide
      ? target.executeQuery(SQL(raw: table.targetSQL))
      : source.executeQuery(SQL(raw: table.sourceSQL))
    defer { rows.close() }
    let kind = table.columns[index].kind
    var number = 0
    while try rows.next() {
      var hasher = Hasher()
      var isMisfit = false
      do {
        try CopiedValue.with(try rows.reader(at: index), kind, toServer: toServer) {
          $0.hash(as: kind, into: &hasher)
        }
      } catch is CopyProblem where targetSide {
        isMisfit = true
      }
      if !isMisfit, let found = try body(hasher.finalize(), rows, number) { return found }
      number += 1
      if number % 256 == 0 { try Interruption.check() }
    }
    return nil
  }

  private func pause(after rows: Int, _ progress: (Int) -> Void) throws {
    guard rows % 256 == 0 else { return }
    try Interruption.check()
    progress(rows)
  }

  private func copyToServer(_ progress: (Int) -> Void) throws -> TableSum {
    var sum = TableSum()
    var failedRow: Int?
    let rows = try source.executeQuery(SQL(raw: table.sourceSQL))
    defer { rows.close() }
    do {
      _ = try target.copyText(
        into: table.targetName, table.columns.map(\.targetName), failedRow: &failedRow
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
      throw Failure("“\(table.name)”\(row): \(error.message); nothing of it was copied")
    }
    return sum
  }

  private func copyToFile(_ progress: (Int) -> Void) throws -> TableSum {
    var sum = TableSum()
    let names = table.columns.map(\.targetName.quotedIdentifier).joined(separator: ", ")
    let marks = Array(repeating: "?", count: table.columns.count).joined(separator: ", ")
    let insert = FixedSQL(
      "INSERT INTO main.\(table.targetName.quotedIdentifier) (\(names)) VALUES (\(marks))")
    let rows = try source.executeQuery(SQL(raw: table.sourceSQL))
    defer { rows.close() }
    while try rows.next() {
      var hasher = Hasher()
      do {
        _ = try target.run(insert) { arena in
          try forEachValue(rows, sum.rows, &hasher) { index, value in
            try value.bind(
              to: ParameterBinder(arena: arena, index: Int32(truncatingIfNeeded: index + 1)))
          }
        }
      } catch let error as DatabaseError where error.code == .constraint {
        throw Failure(
          "“\(table.name)”, row \((sum.rows + 1).grouped): \(error.message); nothing of it was copied"
        )
      }
      sum.add(hasher)
      try pause(after: sum.rows, progress)
    }
    return sum
  }
}
