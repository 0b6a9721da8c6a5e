import Larder
import LarderPostgres
import PostgresSupport
import Testing

private struct Sign: Record {
  var id: Int64?
  var text: String

  struct Columns: Sendable {
    let id = Column("id", \Sign.id, .primaryKey)
    let text = Column("text", \Sign.text)
  }
  static let columns = Columns()
  static let table = Table("sign", Sign.init, columns.id, columns.text)
  static let parts = FullTextIndex(of: Sign.self, \.text, tokenizer: .bigram)
}

@Suite(
  "Marked matches on a server", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"),
  .serialized)
struct MarkTests {
  private static let pools = Result {
    try ["C", "libc"].map { locale in
      let server = try PostgresServer(["--locale", locale])
      return (pool: try PostgresPool(server.address), server: server)
    }
  }

  /// The highlighted texts and the snippets of a search, from a server of each locale.
  private func marks(
    _ texts: [String], _ pattern: FullTextPattern, tokens: Int = 16
  ) throws -> [[String]] {
    try Self.pools.get().map { pool, _ in
      try pool.inTransaction { db in
        db.setRollbackOnly()
        try Sign.table.create(db)
        try Sign.parts.create(db)
        try Sign.insert(db, contentsOf: texts.map { Sign(id: nil, text: $0) })
        return try Sign.matching(Sign.parts, pattern).order { $0.id }
          .select {
            (
              $0.highlight(\.text, mark: "<b>", "</b>"),
              $0.snippet(\.text, mark: "[", "]", tokens: tokens)
            )
          }
          .fetchAll(db).flatMap { [$0.0, $0.1] }
      }
    }
  }

  @Test("A match inside of Chinese text is marked as one, with the text around it as it is")
  func highlighted() throws {
    let found = try marks(["首都北京市", "Hello 世界, 北京 and \"more\"", "北方京城"], .all(of: "北京"))
    let expected = [
      "首都<b>北京</b>市", "首都[北京]市", "Hello 世界, <b>北京</b> and \"more\"",
      "Hello 世界, [北京] and \"more\"",
    ]
    #expect(found == [expected, expected])
  }

  @Test("Matches that aren't beside each other are marked one by one")
  func several() throws {
    let found = try marks(["南方与北京, 東西 Tokyo"], .any(of: "北京 東 tokyo"))
    let expected = ["南方与<b>北京</b>, <b>東</b>西 <b>Tokyo</b>", "南方与[北京], [東]西 [Tokyo]"]
    #expect(found == [expected, expected])
  }

  @Test("A snippet of a long Chinese text is as short as its number of tokens says")
  func bounded() throws {
    let long = String(repeating: "山水", count: 5_000) + "北京" + String(repeating: "天地", count: 5_000)
    for snippets in try marks([long], .phrase("北京"), tokens: 8) {
      #expect(snippets[1].contains("[北京]"))
      #expect(snippets[1].count <= 8 + 2)
    }
  }
}
