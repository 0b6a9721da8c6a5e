import Larder
import LarderSQLite

extension PostgresDefinitions {
  /// Creates an enumeration, or adds the values that it lacks, each before the next one that it has.
  ///
  /// See [ALTER TYPE](https://www.postgresql.org/docs/15/sql-altertype.html).
  func createEnum(_ name: String, _ values: [String], in db: Database) throws {
    try check(name: name)
    let type = name.quotedIdentifier
    let found = try db.executeQuery(
      """
      SELECT e.enumlabel::text AS value FROM pg_catalog.pg_type t
        LEFT JOIN pg_catalog.pg_enum e ON e.enumtypid = t.oid
      WHERE t.oid = to_regtype(\(type)::text) ORDER BY e.enumsortorder
      """
    ).map { try $0.get("value", as: String?.self) }
    guard !found.isEmpty else {
      let list = values.map(\.quotedText).joined(separator: ", ")
      try db.executeUpdate(SQL(raw: "CREATE TYPE \(type) AS ENUM (\(list))"))
      return
    }
    var known = Set(found.compactMap(\.self))
    for (index, value) in values.enumerated() where !known.contains(value) {
      let next = values[index...].first(where: known.contains)
      let place = next.map { " BEFORE \($0.quotedText)" } ?? ""
      try db.executeUpdate(SQL(raw: "ALTER TYPE \(type) ADD VALUE \(value.quotedText)\(place)"))
      known.insert(value)
    }
  }
}
