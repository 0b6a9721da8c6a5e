import Larder

extension MisuseCall {
  private static let words = FullTextIndex(of: Town.self, \.name)

  /// What full-text indexes do.
  static let fullText = [
    MisuseCall("FullTextIndex.create(_:ifNotExists:)") {
      try words.create($0.db, ifNotExists: true)
    },
    MisuseCall("FullTextIndex.drop(_:ifExists:)") { try words.drop($0.db, ifExists: true) },
    MisuseCall("FullTextIndex.differences(_:)") { _ = try words.differences($0.db) },
    MisuseCall("FullTextIndex.rebuild(_:)") {
      try words.create($0.db, ifNotExists: true)
      try words.rebuild($0.db)
    },
    MisuseCall("FullTextIndex.optimize(_:)", "FullTextIndex.verify(_:)") {
      try words.create($0.db, ifNotExists: true)
      try words.optimize($0.db)
      try words.verify($0.db)
      _ = try Town.matching(words, .all(of: "oslo")).order { $0.rank }
        .select { ($0, $0.snippet(\.name, mark: "<", ">")) }.fetchAll($0.db)
    },
    MisuseCall("Database.createTokenizer(_:_:)") {
      try $0.db.createTokenizer("meddling") { _, _ in [] }
    },
  ]
}
