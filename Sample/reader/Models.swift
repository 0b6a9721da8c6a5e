import Foundation
import LarderMacros

@Record
struct Account {
  @Column(.primaryKey) var id: Int64?
  @Column(.unique) var email: String
  /// The secret by which requests say whose they are.
  @Column(.unique) var token: UUID
}

@Record
struct Feed {
  @Column(.primaryKey) var id: Int64?
  @Column(.unique) var url: String
  var title: String
}

@Record(options: .withoutRowID)
struct Subscription {
  @Column(.primaryKey, .references(Account.self, onDelete: .cascade)) var account: Int64
  @Column(.primaryKey, .indexed, .references(Feed.self, onDelete: .cascade)) var feed: Int64
}

@Record(constraints: [.unique(\.feed, \.guid)], indexes: [.index(\.feed, \.published)])
struct Entry {
  @Column(.primaryKey) var id: Int64?
  @Column(.references(Feed.self, onDelete: .cascade)) var feed: Int64
  /// The feed's own name of the entry: it is stored once, however often the feed is fetched.
  var guid: String
  var title: String
  var content: String
  /// Milliseconds since 1970.
  var published: Int64
  @Column(.default(0)) var words: Int
}

/// What an account has done with an entry. There is no row for an entry that is unread.
@Record(options: .withoutRowID)
struct State {
  @Column(.primaryKey, .references(Account.self, onDelete: .cascade)) var account: Int64
  @Column(.primaryKey, .references(Entry.self, onDelete: .cascade)) var entry: Int64
  @Column(.default(false)) var starred = false
}

/// How many entries of a feed have arrived, which a consumer of the outbox counts.
@Record
struct Activity {
  @Column(.primaryKey, .references(Feed.self, onDelete: .cascade)) var feed: Int64
  @Column(.default(0)) var entries: Int
}

extension Entry {
  static let text = FullTextIndex(of: Entry.self, \.title, \.content, prefixes: [2, 3])
}

let records: [any Record.Type] = [
  Account.self, Feed.self, Subscription.self, Entry.self, State.self, Activity.self,
]
