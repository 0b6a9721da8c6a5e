import Foundation
import LarderMacros

enum ReaderError: Error, Equatable {
  case notSignedIn
  case isThere(String)
  case noEntry(Int64)
}

/// What clients ask of the service. Each call is a transaction, and the same on both engines.
struct Reader: Sendable {
  let access: any DatabaseAccess

  func signUp(_ email: String) async throws -> Account {
    do {
      return try await access.inTransaction { db in
        try Account(id: nil, email: email, token: UUID()).inserted(db)
      }
    } catch let error as DatabaseError where error.constraint?.kind == .unique {
      throw ReaderError.isThere(email)
    }
  }

  static func account(_ token: String, _ db: Database) throws -> Int64 {
    guard let token = UUID(uuidString: token),
      let id = try Account.filter({ $0.token == token }).fetchOne(db)?.id
    else { throw ReaderError.notSignedIn }
    return id
  }

  /// Subscribes to a feed. The job that fetches it is put in by the same transaction.
  func subscribe(_ token: String, to url: String) async throws {
    try await access.inTransaction { db in
      let account = try Self.account(token, db)
      try Feed.insert(db, contentsOf: [Feed(id: nil, url: url, title: url)], or: .ignore)
      guard let feed = try Feed.filter({ $0.url == url }).fetchOne(db)?.id else { return }
      try Subscription.insert(
        db, contentsOf: [Subscription(account: account, feed: feed)], or: .ignore)
      try FetchFeed(feed: feed).enqueue(db)
    }
  }

  struct Item: Codable, Equatable, Sendable {
    var id: Int64
    var feed: String
    var title: String
  }

  /// The newest unread entries of an account's feeds.
  func unread(_ token: String, limit: Int = 50) async throws -> [Item] {
    try await access.read { db in
      let account = try Self.account(token, db)
      let done = State.filter { $0.account == account }.select { $0.entry }
      return try Entry.join(Feed.self) { $0.feed == $1.id }
        .join(Subscription.self) { _, feed, subscription in feed.id == subscription.feed }
        .filter { entry, _, subscription in
          subscription.account == account && !entry.id.in(done)
        }
        .order { entry, _, _ in (entry.published.desc, entry.id.desc) }
        .select { entry, feed, _ in (entry.id, feed.title, entry.title) }
        .limit(limit).fetchAll(db)
        .map { Item(id: $0.0 ?? 0, feed: $0.1, title: $0.2) }
    }
  }

  func markRead(_ token: String, _ entry: Int64, starred: Bool = false) async throws {
    try await access.inTransaction { db in
      let account = try Self.account(token, db)
      guard try Entry.fetchOne(db, entry) != nil else { throw ReaderError.noEntry(entry) }
      var state = State(account: account, entry: entry, starred: starred)
      try state.upsert(db)
    }
  }

  /// Entries with words as they are typed, the best first.
  func search(_ text: String, limit: Int = 20) async throws -> [Item] {
    try await access.read { db in
      try Entry.matching(Entry.text, .allPrefixes(of: text))
        .join(Feed.self) { $0.feed == $1.id }
        .order { entry, _ in entry.rank }
        .select { entry, feed in
          (entry.id, feed.title, entry.snippet(\.title, mark: "[", "]"))
        }
        .limit(limit).fetchAll(db)
        .map { Item(id: $0.0 ?? 0, feed: $0.1, title: $0.2) }
    }
  }

  struct Counts: Codable, Equatable, Sendable {
    var feeds: Int
    var entries: Int
    var read: Int
  }

  @Sendable static func counts(_ db: Database) throws -> Counts {
    Counts(
      feeds: try Feed.all.fetchCount(db), entries: try Entry.all.fetchCount(db),
      read: try State.all.fetchCount(db))
  }

  /// Calls a closure with the counts now, and after each commit that changes them, in any process.
  func follow(_ body: (Counts) async throws -> Void) async throws {
    for try await counts in access.values(of: Self.counts) { try await body(counts) }
  }
}
