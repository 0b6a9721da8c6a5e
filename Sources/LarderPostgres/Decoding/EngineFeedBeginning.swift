import LarderSQLite

extension PostgresRetries: EngineFeeds {
  /// Begins a feed by logical decoding.
  func begin(_ wish: FeedWish, on connections: Connections) async throws -> any EngineFeed {
    let plan = try await connections.performOnPrimary(.plain, ScopeCall("changes(of:)")) { db in
      try FeedPlan(wish, db)
    }
    let feed = try DecodedFeed(plan, servers, settings, connections)
    try await feed.begin(wish.beginning)
    return feed
  }
}
