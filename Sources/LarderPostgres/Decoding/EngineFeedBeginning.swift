import LarderSQLite

extension PostgresRetries: EngineFeeds {
  /// Begins a feed by logical decoding.
  func begin(_ wish: FeedWish, on connections: Connections) async throws -> any EngineFeed {
    let plan = try await plan(wish, on: connections)
    let feed = try DecodedFeed(plan, servers, settings, connections)
    try await feed.begin(wish.beginning)
    return feed
  }

  /// Prepares the feed, again if the connection was lost: each part of it is a statement of its own, and is
  /// done only if it isn't yet.
  private func plan(_ wish: FeedWish, on connections: Connections) async throws -> FeedPlan {
    var retry = Retry(limit: settings.retryLimit, isTransient: DecodedFeed.isTransient)
    while true {
      do {
        return try await connections.performOnPrimary(.plain, ScopeCall("changes(of:)")) { db in
          try FeedPlan(wish, db)
        }
      } catch {
        try await Task.sleep(for: retry.pause(after: error))
      }
    }
  }
}
