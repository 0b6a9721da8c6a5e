import Foundation
import Larder
import Testing

/// A dialect that differs from SQLite's wherever it can, so that a part of a query that it can't
/// rewrite shows in the text.
struct OtherDialect: Dialect {
  func placeholder(_ number: Int) -> String { "$\(number)" }

  func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
    switch (fragment.kind, fragment.operation, fragment.left, fragment.right) {
    case (.binary, .same, let left?, let right?): "\(left) IS NOT DISTINCT FROM \(right)"
    case (.binary, .notSame, let left?, let right?): "\(left) IS DISTINCT FROM \(right)"
    case (.comparison, .same, let left?, _):
      "\(left) IS NOT DISTINCT FROM \(SQLFragment(value: fragment.value))"
    case (.comparison, .notSame, let left?, _):
      "\(left) IS DISTINCT FROM \(SQLFragment(value: fragment.value))"
    case (.binary, .crossJoin, let left?, let right?): "\(left) JOIN \(right)"
    case (.binary, .in, let left?, let right?):
      members(of: right).map { "\(left) = ANY(\($0))" }
    default: limit(fragment) ?? keys(fragment)
    }
  }

  /// Replaces the parts of key comparisons that only SQLite needs, and the list of keys by an
  /// array.
  private func keys(_ fragment: SQLFragment) -> SQLFragment? {
    switch fragment.content {
    case .rows(let list):
      let values = SQLFragment(value: "\(list.values.count) values")
      return "SELECT ordinality - 1, value FROM unnest(\(values)) WITH ORDINALITY"
    case .form(.withoutAffinity, let operands, _), .form(.withAffinity, let operands, _):
      return operands.first
    default: return nil
    }
  }

  /// A list of values as an array, which is a single value.
  private func members(of fragment: SQLFragment) -> SQLFragment? {
    guard case .members(let list) = fragment.content else { return nil }
    return SQLFragment(value: "\(list.values.count) values")
  }

  private func limit(_ fragment: SQLFragment) -> SQLFragment? {
    guard case .limit(let count, let offset) = fragment.content else { return nil }
    let skipped = offset > 0 ? SQLFragment(" OFFSET \(SQLFragment(value: offset)) ROWS") : nil
    let first = count.map { SQLFragment(" FETCH FIRST \(SQLFragment(value: $0)) ROWS ONLY") }
    return "\(skipped)\(first)"
  }

  func typeName(of type: ColumnType) -> String { "\(SQLiteDialect().typeName(of: type))_TYPE" }

  /// SQLite's syntax that is left in a text of this dialect, outside of names.
  static func leftovers(in text: String) -> [String] {
    var words = text
    words.replace(/"(?:[^"]|"")*"/, with: "name")
    return [
      "?", "json_each", " LIMIT ", " IS name", " IS NOT name", " IS $", " IS NOT $", " AS INTEGER)",
      " AS TEXT)", " AS BLOB)", " AS REAL)", " AS NUMERIC)", "+name", " CROSS JOIN ",
    ].filter { words.contains($0) }
  }

  /// Whether the text's placeholders are numbered in order, and as many as the values.
  static func isNumbered(_ sql: SQL) -> Bool {
    let numbers = sql.text.matches(of: /\$(\d+)/).compactMap { Int($0.output.1) }
    return numbers == Array(sql.arguments.positional.indices.map { $0 + 1 })
  }
}

extension Query {
  /// The query's SQL for SQLite. Checks that another dialect can write it too.
  var snapshot: String { OtherDialect.checked(sql, sql(in: OtherDialect())) }
}

extension Selection {
  var snapshot: String { OtherDialect.checked(sql, sql(in: OtherDialect())) }
}

extension Mapped {
  func snapshot<Row>() -> String where Statement == Selection<Row> { statement.snapshot }
  func snapshot<Row>() -> String where Statement == Compound<Row> { statement.snapshot }
}

extension Compound {
  var snapshot: String { OtherDialect.checked(sql, sql(in: OtherDialect())) }
}

extension RecordAssociation {
  /// SQLite's SQL of the statements that fetch the records that belong to the owners.
  func snapshot(_ db: Database, of owners: [Owner]) throws -> [String] {
    zip(try records.sql(db, of: owners), try records.sql(db, of: owners, in: OtherDialect()))
      .map(OtherDialect.checked)
  }
}

extension OtherDialect {
  fileprivate static func checked(_ sql: SQL, _ other: SQL) -> String {
    #expect(leftovers(in: other.text).isEmpty, "\(other.text)")
    #expect(isNumbered(other), "\(other.text)")
    return sql.text
  }
}
