import Foundation
import Larder
import ProofSupport
import TestSupport

/// Processes that are killed one after the other on a file that this one observes.
struct ObservedKillStory: KillStory {
  let path: String
  let role: String
  let access: any DatabaseAccess
  let seen = Recorder<Seen>()
  private let observation: Observation

  /// What a transaction changes together.
  struct Seen: Equatable, Sendable {
    let count: Int
    let items: Int?
    let parts: Int?

    @Sendable init(_ db: Database) throws {
      count = try ObservedKills.count(db)
      items = try db.value("SELECT count(*) FROM item", as: Int.self)
      parts = try db.value("SELECT count(*) FROM part", as: Int.self)
    }

    var isWhole: Bool { items == count && parts == count }
  }

  init(path: String, role: String) throws {
    self.path = path
    self.role = role
    access = try ObservedKills.open(path, role)
    try access.inTransaction(.immediate, ObservedWriting.createTables)
    observation = access.values(of: Seen.init) { error in
      Parent.tell("error: \(error)")
    } onValue: { [seen] in
      seen.add($0)
    }
  }

  func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int {
    let process = try ChildProcess.again(ObservedKills.name, "--", role, path)
    let lines = try Self.lines(of: process, &random).map { $0.split(separator: " ") }
    func numbers(_ kind: String) -> [Int] {
      lines.filter { $0.first == kind[...] }.compactMap { $0.last.flatMap { Int($0) } }
    }
    let (made, told) = (numbers("made"), numbers("told"))
    var configuration = Configuration()
    configuration.journalMode = nil
    let final = try Seen(Database(path: path, configuration: configuration))
    try WrongAnswer.check(final.isWhole, true, "whether the file is whole, \(final)")
    guard (made + told).allSatisfy({ $0 <= final.count }) else {
      throw WrongAnswer(description: "\(final.count) are left of \((made + told).max() ?? 0)")
    }
    if let first = numbers("began").first {
      let expected = told.isEmpty ? [] : Array(first + 1...first + told.count)
      try WrongAnswer.check(told, expected, "what the feed told")
    }
    try checkValues(final)
    try Elsewhere.inTask { [access] in try await Self.checkNewFeed(access, final.count) }
    return told.count
  }

  /// Who observes is told of the last that was committed, if not at once.
  private func checkValues(_ final: Seen) throws {
    let end = ContinuousClock.now + .seconds(20)
    while seen.elements.last != final, ContinuousClock.now < end { usleep(1000) }
    let values = seen.elements
    try WrongAnswer.check(values.last, final, "the last value")
    if let half = values.first(where: { !$0.isWhole }) {
      throw WrongAnswer(description: "a value of half a transaction: \(half)")
    }
    for (value, next) in zip(values, values.dropFirst()) where next.count <= value.count {
      throw WrongAnswer(description: "a value of \(next.count) after one of \(value.count)")
    }
  }

  /// A feed that begins now begins with what there is.
  private static func checkNewFeed(_ access: any DatabaseAccess, _ count: Int) async throws {
    let (beginning, begins) = AsyncStream<Int>.makeStream()
    let feed = Task {
      let changes = access.changes(of: ["counter"]) { db in
        begins.yield(try ObservedKills.count(db))
        begins.finish()
      }
      for try await transaction in changes where !transaction.isFromElsewhere {
        return transaction.changes.map { $0.new?.last }
      }
      return []
    }
    var began: [Int] = []
    for await count in beginning { began.append(count) }
    try WrongAnswer.check(began, [count], "where a new feed begins")
    let number = try await access.inTransaction(.immediate, ObservedKills.write)
    try WrongAnswer.check(number, count + 1, "the number of the next transaction")
    let told = try await feed.value
    try WrongAnswer.check(told, [.integer(Int64(number))], "what a new feed tells first")
  }
}
