import Foundation
import LarderMacros

/// What a ticket's customer sees of it.
enum TicketState: String, CaseIterable, Codable, DatabaseValueConvertible {
  case open, pending, closed
}

enum Priority: String, CaseIterable, DatabaseValueConvertible {
  case low, normal, urgent
}

/// What else is known of a ticket: stored as JSON.
struct Details: Codable, Equatable, Sendable {
  var channel: String
  var device: String?
  var labels: [String] = []
}

@Record
struct Ticket: Equatable {
  @Column(.primaryKey) var id: Int64?
  /// Chosen by the client, so that a request that is sent again makes no second ticket.
  @Column(.unique) var reference: String
  var subject: String
  var body: String
  @Column(.indexed, .default(TicketState.open)) var state = TicketState.open
  @Column(as: .iso8601) var created: Date
  @Column(.version) var version = 1
  @Column(.default(Priority.normal)) var priority = Priority.normal  // v2
  @Column(as: .json) var details: Details?  // v4
  @Column(as: .unixMilliseconds) var due: Date?  // v4
}

@Record
struct Comment: Equatable {
  @Column(.primaryKey) var id: Int64?
  @Column(.indexed, .references(Ticket.self, onDelete: .cascade)) var ticket: Int64
  var author: String
  var text: String
  @Column(as: .iso8601) var created: Date
}

@Record
struct Tag: Equatable {
  @Column(.primaryKey) var id: Int64?
  @Column(.unique) var name: String
}

@Record("ticket_tag", options: .withoutRowID)
struct TicketTag: Equatable {
  @Column(.primaryKey, .references(Ticket.self, onDelete: .cascade)) var ticket: Int64
  @Column(.primaryKey, .indexed, .references(Tag.self, onDelete: .cascade)) var tag: Int64
}

/// What a worker is to do.
enum Work: Codable, Equatable, Sendable {
  case notify(ticket: Int64, about: String)
  /// Fails until it was tried so often.
  case flaky(ticket: Int64, until: Int)
  /// Never succeeds.
  case poison
}

@Record(indexes: [.index(\.state, \.due, \.id)])
struct Job: Equatable {
  enum State: String, CaseIterable, DatabaseValueConvertible { case waiting, running, done, failed }

  @Column(.primaryKey) var id: Int64?
  @Column(as: .json) var work: Work
  @Column(.default(State.waiting)) var state = State.waiting
  /// When it may be tried; while it runs, when its worker is taken for dead.
  @Column(as: .unixMilliseconds) var due: Date
  var attempts = 0
  var worker: String?
  var error: String?
}

/// What a job has done: at most one row for each, whoever runs it and how often.
@Record(options: .withoutRowID)
struct Delivery: Equatable {
  @Column(.primaryKey, .references(Job.self)) var job: Int64
  var worker: String
  var attempt: Int
}

/// Which version of a ticket was seen in which state.
@Record(options: .withoutRowID)
struct Audit: Equatable {
  @Column(.primaryKey) var ticket: Int64
  @Column(.primaryKey) var version: Int
  var state: TicketState
  var source: String
}

extension Ticket {
  static let comments = HasMany(columns.id, Comment.columns.ticket)
  static let tags = HasManyThrough(
    columns.id, TicketTag.columns.ticket, TicketTag.columns.tag, Tag.columns.id)
  static let words = FullTextIndex(of: Ticket.self, \.subject, \.body, tokenizer: .bigram)
}

extension Comment {
  static let words = FullTextIndex(of: Comment.self, \.text, tokenizer: .bigram)
}
