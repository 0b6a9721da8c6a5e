import Larder
import LarderSQLite

/// A note of the columns of a lasting feed's tables, as the comment of its publication. While nobody follows the feed,
/// rows may change with their columns, which nobody reports.
struct ColumnsNote {
  private let publication: String
  let text: String

  init(of tables: [FeedTable], in publication: String) {
    self.publication = publication
    let columns = tables.sorted { $0.number < $1.number }.map { table in
      "\(table.number)" + table.columns.map { " \($0.name.quotedIdentifier) \($0.type)" }.joined()
    }
    text = StatementNames.hash(columns.joined(separator: ","), [])
  }

  /// The note that there is; nil for none.
  func known(in db: Database) throws -> String? {
    try db.value(
      """
      SELECT pg_catalog.obj_description(oid, 'pg_publication') FROM pg_catalog.pg_publication
      WHERE pubname::text = \(publication)
      """, as: String?.self) ?? nil
  }

  /// Writes the note, unless the publication is another role's.
  func write(in db: Database) throws {
    do {
      try db.executeUpdate(
        SQL(raw: "COMMENT ON PUBLICATION \(publication.quotedIdentifier) IS \(text.quotedText)"))
    } catch let error as DatabaseError where error.sqlState == "42501" {}
  }
}
