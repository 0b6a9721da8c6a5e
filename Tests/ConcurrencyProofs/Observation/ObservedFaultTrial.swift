import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// A few transactions with one call failing, and what those who follow them were told.
struct ObservedFaultTrial: Sendable {
  let variant: ObservedFaults.Variant
  let folder: String
  let seed: UInt64
  private let template: Data
  private static let transactions = 8

  struct Outcome: Sendable {
    var hasFired = false
    /// Whether the feed, replayed on a copy, gives the database.
    var isExact = false
    /// Whether the feed has said that something was committed which it doesn't know.
    var isUnknown = false
    /// Whether a sync failed, after which nothing is written before the file is opened anew.
    var isDead = false
    /// Whether reading the value failed.
    var hasEndedValues = false
    var fault: String?
  }

  init(variant: ObservedFaults.Variant, folder: String, seed: UInt64) throws {
    self.variant = variant
    self.folder = folder
    self.seed = seed
    try ScratchFolder.empty(folder)
    template = try FaultTemplate.make(
      in: folder, pageSize: 512, Self.configuration(variant), fill: ObservedWriting.fill)
  }

  private static func configuration(_ variant: ObservedFaults.Variant) -> Configuration {
    var configuration = Configuration(profile: variant.isDurable ? .durable : .service)
    configuration.journalMode = variant.journal
    configuration.groupCommit = variant.sharesSyncs
    configuration.busyTimeout = .milliseconds(50)
    // So that rows are read from the file also by who asks what they were before.
    configuration.prepareDatabase = { try $0.executeUpdate("PRAGMA cache_size = 5") }
    return configuration
  }

  private var path: String { folder + "/main.db" }

  private func open(vfs: String) throws -> any DatabaseAccess {
    var configuration = Self.configuration(variant)
    configuration.vfs = vfs
    return variant.isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
  }

  /// How many calls could fail.
  func rehearse() async throws -> Int {
    let outcome = await run(failing: 0)
    if let fault = outcome.fault {
      throw WrongAnswer(description: "\(variant), seed \(seed), unharmed: \(fault)")
    }
    return fault_seen()
  }

  /// Runs with one call failing; with none for 0.
  func run(failing point: Int) async -> Outcome {
    var outcome = Outcome()
    do {
      try await run(failing: point, &outcome)
    } catch {
      fault_disarm()
      outcome.hasFired = fault_fired() > 0
      outcome.fault = "\(error)"
    }
    return outcome
  }

  private func run(failing point: Int, _ outcome: inout Outcome) async throws {
    try ScratchFolder.empty(folder)
    try template.write(to: URL(fileURLWithPath: path))
    let copy = try FeedCopy(ObservedWriting.fill)
    let access = try open(vfs: "faulty")
    let followers = await Followers(access)
    let kinds = UInt32(variant.isOfMemory ? FAULT_MEMORY : FAULT_FILES)
    fault_arm(kinds, point, variant.times, variant.writesHalf ? 1 : 0)
    for number in 0..<Self.transactions {
      do { try await write(number, access) } catch { try expectTyped(error, point) }
    }
    fault_disarm()
    outcome.hasFired = fault_fired() > 0
    do {
      try await access.inTransaction(.immediate, Followers.writeLast)
    } catch let error as DatabaseError where error.extendedCode == .ioErrorFsync {
      outcome.isDead = true
      try await access.close()
    }
    let errors = try await followers.end()
    if let error = errors.values {
      try expectTyped(error, point)
      outcome.hasEndedValues = true
      if !outcome.isDead { try await checkAnew(access) }
    }
    if let error = errors.feed, !outcome.isDead {
      throw WrongAnswer(description: "the feed ended: \(error)")
    }
    try await access.close()
    try check(followers, copy, &outcome)
  }

  /// Some transactions are tasks', some threads', and some statements are on their own.
  private func write(_ number: Int, _ access: any DatabaseAccess) async throws {
    let seed = seed &+ UInt64(number)
    let body: @Sendable (Database) throws -> Void = { db in
      var generator = SeededGenerator(seed: seed)
      try ObservedWriting.write(db, &generator)
    }
    func wait() throws {
      if number % 4 == 3 {
        try access.inDatabase(body)
      } else {
        try access.inTransaction(.immediate, body)
      }
    }
    do {
      if number % 2 == 0 { try await access.inTransaction(.immediate, body) } else { try wait() }
    } catch is ObservedWriting.Undone {}
  }

  private func expectTyped(_ error: any Error, _ point: Int) throws {
    // SQLite gives up on a log with `protocol` where memory was short for its index.
    let codes: [ResultCode] = [.ioError, .full, .cannotOpen, .noMemory, .readOnly, .protocol]
    // Some statements roll the transaction back by themselves.
    guard let error = error as? DatabaseError,
      error.code == .abort || point > 0 && codes.contains(error.code)
    else { throw WrongAnswer(description: "an unexpected error: \(error)") }
  }

  /// Who observes again after an error sees what there is.
  private func checkAnew(_ access: any DatabaseAccess) async throws {
    var values = access.values(of: Followers.Seen.init).makeAsyncIterator()
    try WrongAnswer.check(try await values.next()?.isLast, true, "whether a new value is the last")
  }

  private func check(
    _ followers: Followers, _ copy: FeedCopy, _ outcome: inout Outcome
  ) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    let final = try Followers.Seen(Database(path: path, configuration: configuration))
    var states: [Int: Set<Int>] = [0: [try copy.state]]
    var last = 0
    var problem: (any Error)?
    for transaction in followers.transactions.elements {
      if transaction.number <= last { throw WrongAnswer(description: "a number comes again") }
      last = transaction.number
      if transaction.isFromElsewhere {
        outcome.isUnknown = true
        try WrongAnswer.check(transaction.changes, [], "what is unknown")
      }
      do {
        try copy.apply(transaction)
        states[copy.count, default: []].insert(try copy.state)
      } catch {
        problem = problem ?? error
      }
    }
    if problem == nil, try copy.state == final.state {
      outcome.isExact = true
    } else if outcome.isDead, problem == nil, copy.count <= final.count {
      // What was committed last is told to nobody: it isn't known to be durable.
    } else if !outcome.isUnknown {
      throw problem
        ?? WrongAnswer(
          description: "the feed tells \(copy.count) transactions of \(final.count), or others")
    }
    let values = followers.values.elements
    for (seen, next) in zip(values, values.dropFirst()) where next.count < seen.count {
      throw WrongAnswer(description: "a value of \(next.count) after one of \(seen.count)")
    }
    if !outcome.hasEndedValues, !outcome.isDead {
      try WrongAnswer.check(values.last?.state, final.state, "the last value")
    }
    if outcome.isExact {
      for seen in values where states[seen.count]?.contains(seen.state) != true {
        throw WrongAnswer(description: "a value at \(seen.count) is that of no commit")
      }
    }
  }
}
