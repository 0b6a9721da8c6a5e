import Larder
import TestSupport

/// One thing that one of many callers does, the same whenever it is made from the same numbers.
struct CallerAction: Sendable {
  enum Kind: CaseIterable, Sendable {
    /// A transaction of one row, one of several tables, one of many pages, one that deletes.
    case note, pay, store, clear
    /// One that takes a seat, which may be taken.
    case sit
    /// A row that is written outside of a transaction.
    case statement
    case read
    /// Transactions that look at what is there, and are rolled back: by an error, or without one.
    case regret, decline
    case checkpoint
  }

  /// The scope that it needs.
  enum Scope { case read, database, transaction, checkpoint(CheckpointMode) }

  /// What its caller has been told by the end.
  enum Outcome {
    case acknowledged(position: Int)
    case told(position: Int)
    case collided(seat: Int)
    case nothing

    /// Puts it into the recording.
    func mark() {
      switch self {
      case .acknowledged(let position): Marks.set(.acknowledged, position)
      case .told(let position): Marks.set(.told, position)
      case .collided(let seat): Marks.set(.collided, seat)
      case .nothing: break
      }
    }
  }

  let kind: Kind
  let caller: Int
  /// Which of its caller's actions it is.
  let number: Int
  let account: Int
  let seat: Int
  let documents: [[UInt8]]
  let mode: CheckpointMode

  static let accounts = 8
  /// What all begins with: the caller who makes the tables.
  static let founder = -1

  private struct Regret: Error {
    let position: Int
  }

  /// Kinds, as often as they come.
  private static let kinds: [Kind] =
    Kind.allCases + [.note, .note, .note, .pay, .pay, .sit, .sit, .read, .read, .read, .statement]

  init(seed: UInt64, caller: Int, number: Int) {
    var random = SeededGenerator(
      seed: seed &+ UInt64(truncatingIfNeeded: caller &* 1_000_003 &+ number))
    self.caller = caller
    self.number = number
    kind = caller == Self.founder ? .note : Self.kinds.randomElement(using: &random) ?? .note
    account = Int.random(in: 1...Self.accounts, using: &random)
    // One that others of the same sitting try to take at about the same time.
    seat = caller / 100 * 1000 + number / 2
    documents = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      let byte = UInt8.random(in: 0...255, using: &random)
      return [UInt8](repeating: byte, count: Int.random(in: 0...20, using: &random) * 700)
    }
    mode =
      [CheckpointMode.passive, .full, .restart, .truncate].randomElement(using: &random) ?? .full
  }

  var scope: Scope {
    switch kind {
    case .read: .read
    case .statement: .database
    case .checkpoint: .checkpoint(mode)
    default: .transaction
    }
  }

  /// Does it in its scope, and returns the position in the journal that its caller is told of.
  func run(_ db: Database) throws -> Int {
    if kind == .read { return try Ledger.lastPosition(db) }
    let before = try Ledger.lastPosition(db)
    try db.executeUpdate(
      "INSERT INTO journal VALUES (?, ?, ?)", before + 1, caller, number)
    switch kind {
    case .pay:
      try db.executeUpdate("UPDATE account SET balance = balance + 1 WHERE id = ?", account)
    case .store:
      for (piece, document) in documents.enumerated() {
        try db.executeUpdate(
          "INSERT INTO document VALUES (?, ?, ?, ?)", caller, number, piece, document)
      }
    case .clear:
      try db.executeUpdate(
        "DELETE FROM document WHERE caller = ? AND number % 2 = ?", caller, number % 2)
    case .sit: try db.executeUpdate("INSERT INTO seat VALUES (?, ?)", seat, before + 1)
    case .regret: throw Regret(position: before)
    case .decline:
      db.setRollbackOnly()
      return before
    case .note, .statement, .read, .checkpoint: break
    }
    return before + 1
  }

  /// What its caller knows after its scope has ended so; throws what is none of its own doing.
  func outcome(of result: Result<Int, any Error>) throws -> Outcome {
    switch result {
    case .success(let position):
      return [.read, .regret, .decline].contains(kind)
        ? .told(position: position) : .acknowledged(position: position)
    case .failure(let error as Regret): return .told(position: error.position)
    case .failure(let error as DatabaseError) where kind == .sit && error.code == .constraint:
      return .collided(seat: seat)
    case .failure(let error): throw error
    }
  }

  /// Does it, and waits for its end.
  func perform(_ access: any DatabaseAccess) throws -> Outcome {
    let result: Result<Int, any Error>
    switch scope {
    case .read: result = Result { try access.read { try run($0) } }
    case .database: result = Result { try access.inDatabase { try run($0) } }
    case .transaction: result = Result { try access.inTransaction { try run($0) } }
    case .checkpoint(let mode):
      // One that others keep from its end has done no harm.
      do { try access.checkpoint(mode) } catch let error as DatabaseError where error.isBusy {}
      return .nothing
    }
    return try outcome(of: result)
  }

  /// The same in a task.
  func perform(_ access: any DatabaseAccess) async throws -> Outcome {
    let result: Result<Int, any Error>
    do {
      switch scope {
      case .read: result = .success(try await access.read { try run($0) })
      case .database: result = .success(try await access.inDatabase { try run($0) })
      case .transaction: result = .success(try await access.inTransaction { try run($0) })
      // A checkpoint has no asynchronous form.
      case .checkpoint: return .nothing
      }
    } catch {
      return try outcome(of: .failure(error))
    }
    return try outcome(of: result)
  }
}
