import Larder
import LarderTerminal

// Rules about sequences and generated keys: whether they collide, or run out.

let serverRulesOfNumbers: [ServerRule] = [
  ServerRule(
    "sequence-behind", .error,
    "A sequence that counts from less than the largest key makes inserts fail, or repeats keys."
  ) { checked in
    try checked.numberedColumns().compactMap { column in
      guard let sequence = column.sequence, let largest = column.largest, let next = column.next,
        column.increment > 0, largest >= next
      else { return nil }
      return Evidence(
        table: column.table, columns: [column.name], object: sequence,
        found: "its next number is \(next), but the largest key is \(largest)",
        advice: "Set the sequence to the largest key.",
        sql: [
          "SELECT setval('\(sequence.quotedIdentifier.replacing("'", with: "''"))', \(largest))"
        ])
    }
  },
  ServerRule(
    "keys-running-out", .warning,
    "When the numbers of a column's type are used up, no row can be inserted any more."
  ) { checked in
    try checked.numberedColumns().compactMap { column in
      let used = max(column.largest ?? 0, column.last ?? 0)
      let end = min(column.largestOfType, column.largestOfSequence ?? .max)
      guard end > 0, Double(used) > Double(end) * 0.7 else { return nil }
      let percent = Int((Double(used) / Double(end) * 100).rounded(.down))
      return Evidence(
        table: column.table, columns: [column.name], object: column.sequence,
        found: "\(used) of \(end) numbers are used (\(percent) %)",
        advice: column.isBig
          ? "Raise the sequence's maximum, or let it count from a lower number."
          : "Make the column bigint, and the columns that refer to it.", sql: column.growing)
    }
  },
]

/// An integer column that numbers rows: a single-column primary key, or a column with a sequence.
struct NumberedColumn {
  let table: String
  let name: String
  let largestOfType: Int64
  let sequence: String?
  let increment: Int64
  let largestOfSequence: Int64?
  /// The sequence's last value; `next` is the one that follows.
  var last: Int64?
  var next: Int64?
  /// The largest value in the table.
  var largest: Int64?

  var isBig: Bool { largestOfType == .max }

  /// The statements that widen the column and its sequence to bigint.
  var growing: [String] {
    let column =
      "ALTER TABLE \(table.quotedIdentifier) ALTER \(name.quotedIdentifier) TYPE bigint"
    let hasSmallSequence = [Int64(Int16.max), Int64(Int32.max)].contains(largestOfSequence)
    let sequences = hasSmallSequence ? [sequence].compactMap { $0 } : []
    return (isBig ? [] : [column])
      + sequences.map { "ALTER SEQUENCE \($0.quotedIdentifier) AS bigint" }
  }
}

extension CheckedServer {
  /// The numbered columns that have an index, by which their largest value is found, and may be read.
  fileprivate func numberedColumns() throws -> [NumberedColumn] {
    if let knownNumbers { return knownNumbers }
    let numbers = try readNumbers()
    knownNumbers = numbers
    return numbers
  }

  private func readNumbers() throws -> [NumberedColumn] {
    let rows = try db.executeQuery(
      SQL(
        raw: Self.ownTables + """
          SELECT c.relname::text, a.attname::text,
            CASE a.atttypid WHEN 21 THEN 32767 WHEN 23 THEN 2147483647 ELSE 9223372036854775807 END,
            s.relname::text, coalesce(q.seqincrement, 1), q.seqmax
          FROM own c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
              AND d.refobjsubid = a.attnum AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
              AND EXISTS (SELECT 1 FROM pg_sequence q WHERE q.seqrelid = d.objid)
            LEFT JOIN pg_class s ON s.oid = d.objid AND s.relnamespace = c.relnamespace
              AND has_sequence_privilege(s.oid, 'SELECT')
            LEFT JOIN pg_sequence q ON q.seqrelid = s.oid
          WHERE a.atttypid IN (20, 21, 23) AND has_column_privilege(c.oid, a.attnum, 'SELECT')
            AND EXISTS (SELECT 1 FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
              JOIN pg_am m ON m.oid = x.relam
              WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'btree'
                AND (i.indkey::int2[])[0] = a.attnum
                AND (s.oid IS NOT NULL OR i.indisprimary AND i.indnkeyatts = 1))
          ORDER BY c.oid, a.attnum
          """)
    ).map {
      NumberedColumn(
        table: try $0.get(at: 0), name: try $0.get(at: 1), largestOfType: try $0.get(at: 2),
        sequence: try $0.get(at: 3), increment: try $0.get(at: 4),
        largestOfSequence: try $0.get(at: 5))
    }
    return try rows.map { column in
      var column = column
      column.largest =
        try db.value(
          "SELECT max(\(identifier: column.name))::bigint FROM \(identifier: column.table)",
          as: Int64?.self) ?? nil
      guard let sequence = column.sequence else { return column }
      try db.executeQuery("SELECT last_value, is_called FROM \(identifier: sequence)").forEach {
        let last = try $0.get(at: 0, as: Int64.self)
        let isCalled = try $0.get(at: 1, as: Bool.self)
        let (next, isOver) = last.addingReportingOverflow(isCalled ? column.increment : 0)
        column.last = isCalled ? last : nil
        column.next = isOver ? nil : next
      }
      return column
    }
  }
}
