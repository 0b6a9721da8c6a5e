@testable import LarderSQLite

/// A feed whose consumer is a test.
final class Followed {
  private var iterator: ChangeFeed<RowChange>.AsyncIterator

  init(_ feed: ChangeFeed<RowChange>) { iterator = feed.makeAsyncIterator() }

  func begin() async throws { try await iterator.begin() }

  func next() async throws -> CommittedChanges<RowChange>? { try await iterator.next() }
}

extension Followed {
  /// Begins a feed of one or more tables.
  static func begin(
    _ access: any DatabaseAccess, _ tables: [String] = ["city"], limit: Int = 1000
  ) async throws -> Followed {
    let followed = Followed(access.changes(of: tables, limit: limit))
    try await followed.begin()
    return followed
  }
}
