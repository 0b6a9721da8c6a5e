/// The feeds of an engine other than SQLite. The engine's ``EngineRetries`` conform to it.
package protocol EngineFeeds: Sendable {
  /// Begins a feed, and calls its `beginning`. Throws any error that keeps the feed from beginning.
  func begin(_ wish: FeedWish, on connections: Connections) async throws -> any EngineFeed
}

/// One consumer's feed of another engine.
package protocol EngineFeed: AnyObject, Sendable {
  /// The next transaction; nil once the task is cancelled or the pool is closed. The one before it has been
  /// handled, since the consumer asks for another.
  func next() async throws -> CommittedChanges<RowChange>?
  /// Ends the feed, without waiting for anything. Calling it again does nothing.
  func end()
}

/// What a feed's consumer has asked for.
package struct FeedWish: Sendable {
  /// The tables' names. A table of a record without a schema has the prefix `main.`.
  package let tables: [String]
  package let changeLimit: Int
  package let byteLimit: Int
  /// The name under which the engine remembers how far the consumer has come; nil for a feed that ends with
  /// its iterator.
  package let name: String?
  /// Whether a change without the whole row, before and after, is of no use.
  package let needsWholeRows: Bool
  package let beginning: (@Sendable (Database) throws -> Void)?
}

extension Connections {
  /// The engine's feeds; nil for SQLite, and for an engine without feeds.
  var engineFeeds: (any EngineFeeds)? { engineRetries as? any EngineFeeds }
}
