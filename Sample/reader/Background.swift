import Foundation
import LarderJobs
import LarderMacros
import LarderOutbox
import Synchronization

/// A feed as it is fetched: a part of [JSON Feed](https://www.jsonfeed.org).
struct FetchedFeed: Codable, Sendable {
  struct Item: Codable, Sendable {
    var id: String
    var title: String
    var content_text: String
    var date_published: String
  }

  var title: String
  var items: [Item]
}

/// Where feeds come from. The sample reads files; a program with a client of HTTP puts it here.
enum Source {
  typealias Fetch = @Sendable (String) async throws -> Data
  static let fetch = Mutex<Fetch> { url in try Data(contentsOf: URL(fileURLWithPath: url)) }
}

/// The messages of the outbox: other services could follow them, too.
enum ReaderEvent: Codable, Equatable {
  case arrived(feed: Int64, entries: Int)
}

let events = Outbox<ReaderEvent>("reader")

/// Fetches a feed, and stores the entries that are new.
struct FetchFeed: Job {
  var feed: Int64

  var options: JobOptions {
    var options = JobOptions()
    options.unique = "feed/\(feed)"  // two subscribers at the same time are one request
    options.timeLimit = .seconds(30)
    options.attempts = 5
    return options
  }

  func run(_ context: JobContext) async throws {
    let url = try await context.store.read { db in try Feed.find(db, feed).url }
    let fetch = Source.fetch.withLock { $0 }
    let fetched = try JSONDecoder().decode(FetchedFeed.self, from: await fetch(url))
    let entries = try fetched.items.map { item in
      let date = try Date(item.date_published, strategy: .iso8601)
      return Entry(
        id: nil, feed: feed, guid: item.id, title: item.title, content: item.content_text,
        published: Int64(date.timeIntervalSince1970 * 1000), words: wordCount(item.content_text))
    }
    // One transaction for the entries, the message and the end of the job: all exactly once.
    try await context.complete { [feed] db in
      try Feed.filter { $0.id == feed }.update(db) { $0.title = .value(fetched.title) }
      let before = try Entry.filter { $0.feed == feed }.fetchCount(db)
      try Entry.insert(db, contentsOf: entries, or: .ignore)
      let new = try Entry.filter { $0.feed == feed }.fetchCount(db) - before
      if new > 0 { try events.append(db, .arrived(feed: feed, entries: new)) }
    }
  }
}

/// Has all feeds fetched again.
struct FetchAll: Job {
  func run(_ context: JobContext) async throws {
    try await context.complete { db in
      for feed in try Feed.select({ $0.id }).fetchAll(db) {
        if let feed { try FetchFeed(feed: feed).enqueue(db) }
      }
    }
  }
}

enum Background {
  static func jobs(_ access: any DatabaseAccess) throws -> JobQueue {
    JobQueue(
      access, [FetchFeed.self, FetchAll.self],
      schedules: [try JobSchedule("*/15 * * * *", FetchAll())])
  }

  /// Workers, consumers and live counts, until the task is cancelled; then they end what they have begun.
  static func run(_ access: any DatabaseAccess) async throws {
    let jobs = try jobs(access)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await jobs.work() }
      group.addTask { try await count(access) }
      try await group.waitForAll()
    }
  }

  /// Counts what has arrived, in the transactions that move the consumer's position.
  static func count(_ access: any DatabaseAccess) async throws {
    try await events.follow(access, as: "activity") { db, messages in
      for message in messages {
        guard case .arrived(let feed, let entries) = message.payload else { continue }
        if try Activity.filter({ $0.feed == feed }).update(db, { $0.entries += entries }) == 0 {
          try Activity.insert(db, contentsOf: [Activity(feed: feed, entries: entries)])
        }
      }
    }
  }
}
