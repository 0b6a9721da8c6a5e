import CLibPQ
import Synchronization

/// The names by which a server keeps the statements of a connection.
///
/// A name is a hash of the statement's text and of its parameters' types. Behind a pooler, which gives a server's
/// connection to one client after the other, names that count meet those of others: the wrong statement would run.
/// One that has the same hash is the same statement.
struct StatementNames {
  /// How many statements of the program use each.
  private var users: [String: Int] = [:]
  /// Those that nobody uses any more, which the server still has.
  private var discarded: [String] = []
  /// How often a statement was compiled under another name because its plan was out of date.
  private var changes: [String: Int] = [:]
  /// Goes up when the server has forgotten all of them.
  private(set) var generation = 0

  /// Takes the name of a statement by its hash, and tells whether the server has it.
  mutating func take(_ hash: String) -> (name: String, isKnown: Bool) {
    // What is to be forgotten may be out of date.
    if case let name = current(hash), discarded.contains(name) { retire(name, hash) }
    let name = current(hash)
    let isKnown = users[name] != nil
    users[name, default: 0] += 1
    return (name, isKnown)
  }

  private func current(_ hash: String) -> String {
    changes[hash].map { "\(hash)_\($0)" } ?? hash
  }

  /// Gives a name back.
  ///
  /// - Parameter isThere: whether the server has the statement.
  mutating func release(_ name: String, isThere: Bool = true) {
    let count = users[name] ?? 0
    if count > 1 {
      users[name] = count - 1
    } else if users.removeValue(forKey: name) != nil, isThere {
      discarded.append(name)
    }
  }

  /// Has the next statement with a hash be another than the one of this name.
  mutating func retire(_ name: String, _ hash: String) {
    if current(hash) == name { changes[hash, default: 0] += 1 }
  }

  /// Those that nobody needs any more, for the server to forget.
  mutating func takeDiscarded() -> [String] {
    defer { discarded = [] }
    return discarded
  }

  /// Notes that the server has none any more.
  mutating func forgetAll() {
    users = [:]
    discarded = []
    changes = [:]
    generation += 1
  }

  /// The hash: [FNV-1a](https://datatracker.ietf.org/doc/html/draft-eastlake-fnv) of 128 bits.
  static func hash(_ sql: String, _ types: [Oid]) -> String {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    func add(_ byte: UInt8) {
      hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }
    for byte in sql.utf8 { add(byte) }
    // No text has a NUL.
    add(0)
    for type in types {
      for shift in [0, 8, 16, 24] as [UInt32] { add(UInt8(truncatingIfNeeded: type >> shift)) }
    }
    return "larder_" + String(hash, radix: 36)
  }
}

/// Whether the connections of an address keep prepared statements.
///
/// A pooler that gives a server's connection away between transactions may not, which shows once a statement is
/// missing, or there already, that nobody has touched.
final class StatementKeeping: Sendable {
  private let isOff = Atomic<Bool>(false)

  var isOn: Bool { !isOff.load(ordering: .relaxed) }

  /// Turns it off: whether it was on.
  func turnOff() -> Bool { !isOff.exchange(true, ordering: .relaxed) }
}
