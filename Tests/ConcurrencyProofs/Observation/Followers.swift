import Larder
import ProofSupport
import TestSupport

/// A feed and a value that follow a database, and what they were told until they ended.
final class Followers: Sendable {
  let transactions = Recorder<CommittedChanges<RowChange>>()
  let values = Recorder<Seen>()
  private let feed: Task<(any Error)?, Never>
  private let observer: Task<(any Error)?, Never>

  /// What a database holds at one moment.
  struct Seen: Hashable {
    let count: Int
    let state: Int
    /// Whether the last transaction of all is there.
    let isLast: Bool

    @Sendable init(_ db: Database) throws {
      count = try db.value("SELECT value FROM counter", as: Int.self) ?? -1
      state = try FeedCopy.state(of: db)
      isLast = try db.value("SELECT id FROM item WHERE name = 'end'", as: Int.self) != nil
    }
  }

  /// Returns when both have begun, or one has ended.
  init(_ access: any DatabaseAccess) async {
    let (following, follows) = AsyncStream<Void>.makeStream()
    feed = Task { [transactions] in
      defer { follows.finish() }
      do {
        let changes = access.changes(
          of: ObservedWriting.tables, limit: 1_000_000, byteLimit: 1 << 32
        ) { _ in follows.yield() }
        for try await transaction in changes {
          transactions.add(transaction)
          if transaction.changes.contains(where: { $0.new?.contains("end") == true }) { break }
        }
        return nil
      } catch {
        return error
      }
    }
    let (observing, observes) = AsyncStream<Void>.makeStream()
    observer = Task { [values] in
      defer { observes.finish() }
      do {
        for try await seen in access.values(of: Seen.init) {
          values.add(seen)
          observes.yield()
          if seen.isLast { break }
        }
        return nil
      } catch {
        return error
      }
    }
    for await _ in following { break }
    for await _ in observing { break }
  }

  /// The transaction behind which they end.
  @Sendable static func writeLast(_ db: Database) throws {
    try db.executeUpdate("DELETE FROM part")
    try db.executeUpdate("INSERT OR REPLACE INTO item VALUES (999999, 'end', 0)")
  }

  /// Waits until both have ended, by the last transaction or otherwise. Throws where one doesn't.
  func end() async throws -> (feed: (any Error)?, values: (any Error)?) {
    let limit = Task {
      try? await Task.sleep(for: .seconds(20))
      let isLate = !Task.isCancelled
      feed.cancel()
      observer.cancel()
      return isLate
    }
    let errors = await (feed.value, observer.value)
    limit.cancel()
    guard await !limit.value else {
      let numbers = transactions.elements.map(\.number)
      throw WrongAnswer(
        description:
          "what was committed last doesn't arrive; the feed told \(numbers), values are of "
          + "\(values.elements.map(\.count)), the last: \(values.elements.last?.isLast ?? false)")
    }
    return errors
  }
}
