import Foundation
import LarderMacros

enum DeskError: Error, Equatable {
  case noTicket(String)
  case isThere(String)
  case empty(String)
}

/// What clients ask of the service. Each call is a transaction, and the same on both engines.
struct Desk: Sendable {
  let access: any DatabaseAccess

  /// Opens a ticket; whoever is to be told is told by a job of the same transaction.
  func open(
    _ reference: String, subject: String, body: String = "", priority: Priority = .normal,
    tags: [String] = [], details: Details? = nil, work: Work? = nil
  ) async throws -> Ticket {
    guard !subject.isEmpty else { throw DeskError.empty("subject") }
    do {
      return try await access.inTransaction { db in
        let ticket = try Ticket(
          id: nil, reference: reference, subject: subject, body: body, created: Date(),
          priority: priority, details: details
        ).inserted(db)
        guard let id = ticket.id else { throw DeskError.noTicket(reference) }
        try Desk.add(tags, to: id, db)
        try Jobs.enqueue(work ?? .notify(ticket: id, about: "opened"), db)
        return ticket
      }
    } catch let error as DatabaseError where error.constraint?.kind == .unique {
      throw DeskError.isThere(reference)
    }
  }

  static func add(_ tags: [String], to ticket: Int64, _ db: Database) throws {
    guard !tags.isEmpty else { return }
    try Tag.insert(db, contentsOf: tags.map { Tag(id: nil, name: $0) }, or: .ignore)
    let found = try Tag.filter { $0.name.in(tags) }.fetchAll(db)
    try TicketTag.insert(
      db, contentsOf: found.compactMap { tag in tag.id.map { TicketTag(ticket: ticket, tag: $0) } },
      or: .ignore)
  }

  func find(_ reference: String) async throws -> Ticket {
    try await access.read { db in try Desk.find(reference, db) }
  }

  static func find(_ reference: String, _ db: Database) throws -> Ticket {
    guard let ticket = try Ticket.filter({ $0.reference == reference }).fetchOne(db) else {
      throw DeskError.noTicket(reference)
    }
    return ticket
  }

  func comment(_ reference: String, _ author: String, _ text: String) async throws {
    guard !text.isEmpty else { throw DeskError.empty("text") }
    try await access.inTransaction { db in
      let ticket = try Desk.find(reference, db)
      guard let id = ticket.id else { throw DeskError.noTicket(reference) }
      var comment = Comment(id: nil, ticket: id, author: author, text: text, created: Date())
      try comment.insert(db)
      try Jobs.enqueue(.notify(ticket: id, about: "comment"), db)
    }
  }

  /// Moves a ticket on; throws `RecordError.stale` if somebody else has changed it since it was read.
  func move(_ ticket: Ticket, to state: TicketState) async throws -> Ticket {
    try await access.inTransaction { db in
      var moved = ticket
      moved.state = state
      return try moved.updated(db)
    }
  }

  /// The newest tickets with all that belongs to them: three statements, however many there are.
  func list(_ state: TicketState, limit: Int) async throws -> [(Ticket, [Comment], [Tag])] {
    try await access.read { db in
      try Ticket.filter { $0.state == state }.order { $0.id.desc }.limit(limit)
        .fetchAll(db, with: Ticket.comments.order { $0.id }, Ticket.tags.order { $0.name })
    }
  }

  struct Hit: Equatable, Sendable {
    var reference: String
    var snippet: String
  }

  /// Tickets by the words in them and in their comments, as they are typed.
  func search(_ text: String, limit: Int = 20) async throws -> [Hit] {
    try await access.read { db in
      let pattern = FullTextPattern.allPrefixes(of: text)
      let tickets = try Ticket.matching(Ticket.words, pattern).order { $0.rank }
        .select(Hit.init) { ($0.reference, $0.snippet(\.subject, mark: "[", "]")) }
        .limit(limit).fetchAll(db)
      let comments = try Comment.matching(Comment.words, pattern)
        .join(Ticket.self) { $0.ticket == $1.id }
        .order { comment, _ in comment.rank }
        .select(Hit.init) { comment, ticket in
          (ticket.reference, comment.snippet(\.text, mark: "[", "]"))
        }
        .limit(limit).fetchAll(db)
      return Array((tickets + comments).prefix(limit))
    }
  }

  /// Tickets of a channel, found in their JSON.
  func from(channel: String) async throws -> [String] {
    try await access.read { db in
      try Ticket.filter { $0.details["channel"] == channel }.order { $0.id }
        .select { $0.reference }.fetchAll(db)
    }
  }

  /// How many tickets there are of each state and tag.
  func report() async throws -> [(String, TicketState, Int)] {
    try await access.read { db in
      try Tag.join(TicketTag.self) { $0.id == $1.tag }
        .join(Ticket.self) { $1.ticket == $2.id }
        .group { tag, _, ticket in (tag.name, ticket.state) }
        .order { tag, _, ticket in (tag.name, ticket.state) }
        .select { tag, _, ticket in (tag.name, ticket.state, count()) }
        .fetchAll(db)
    }
  }
}
