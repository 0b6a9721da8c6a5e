import Foundation
import LarderMacros

/// Values that follow the database, and the log of who changed what.
enum Live {
  struct Counts: Equatable, Sendable {
    var open: Int
    var jobs: Int
  }

  @Sendable static func counts(_ db: Database) throws -> Counts {
    Counts(
      open: try Ticket.filter { $0.state == .open }.fetchCount(db),
      jobs: try Job.filter { $0.state.in([.waiting, .running]) }.fetchCount(db))
  }

  /// Calls a closure with each new value until its task is cancelled: as the database tells where it
  /// does, by asking now and then where it doesn't.
  static func follow<Value: Sendable & Equatable>(
    _ access: any DatabaseAccess, pause: Duration = .milliseconds(100),
    _ fetch: @escaping @Sendable (Database) throws -> Value, _ body: (Value) async throws -> Void
  ) async throws {
    do {
      try await observe(access, fetch, body)
    } catch is UnsupportedByEngine {
      var last: Value?
      while !Task.isCancelled {
        let value = try await access.read(fetch)
        if value != last { try await body(value) }
        last = value
        try await Task.sleep(for: pause)
      }
    }
  }

  private static func observe<Value: Sendable & Equatable>(
    _ access: some DatabaseAccess, _ fetch: @escaping @Sendable (Database) throws -> Value,
    _ body: (Value) async throws -> Void
  ) async throws {
    for try await value in access.values(of: fetch) { try await body(value) }
  }

  // MARK: The audit log

  /// Writes down each version of each ticket: from the feed where there is one, and by comparing with
  /// what the log has where there is none, or where something was committed elsewhere.
  static func audit(_ access: any DatabaseAccess) async throws {
    do {
      // What is there when the feed begins is written down beside it.
      let feed = access.changes(of: Ticket.self) { _ in
        Task { try await catchUp(access) }
      }
      for try await transaction in feed {
        if transaction.isFromElsewhere {
          try await catchUp(access)
        } else {
          let seen = transaction.changes.compactMap { $0.new }
          try await write(seen, source: "feed", access)
        }
      }
    } catch is UnsupportedByEngine {
      while !Task.isCancelled {
        try await catchUp(access)
        try await Task.sleep(for: .milliseconds(100))
      }
    } catch is FeedOverflow {
      try await catchUp(access)
    }
  }

  static func write(_ tickets: [Ticket], source: String, _ access: any DatabaseAccess) async throws
  {
    guard !tickets.isEmpty else { return }
    try await access.inTransaction { db in
      try Audit.insert(
        db,
        contentsOf: tickets.compactMap { ticket in
          ticket.id.map {
            Audit(ticket: $0, version: ticket.version, state: ticket.state, source: source)
          }
        }, or: .ignore)
    }
  }

  static func missing(_ db: Database) throws -> [Ticket] {
    try Ticket.leftJoin(Audit.self) { $0.id == $1.ticket && $0.version == $1.version }
      .filter { _, audit in audit.ticket == nil }
      .fetchAll(db).map(\.0)
  }

  /// Tickets whose version isn't in the log, into the log; returns how many there were.
  @discardableResult
  static func catchUp(_ access: any DatabaseAccess) async throws -> Int {
    try await access.inTransaction { db in
      let missing = try missing(db)
      try Audit.insert(
        db,
        contentsOf: missing.compactMap { ticket in
          ticket.id.map {
            Audit(ticket: $0, version: ticket.version, state: ticket.state, source: "look")
          }
        }, or: .ignore)
      return missing.count
    }
  }
}
