import CLibPQ
import Synchronization

/// The names by which the server keeps a connection's prepared statements.
///
/// A name is a hash of the statement's text and its parameters' types. Behind a pooler, which gives a
/// server's connection to one client after the other, sequential names would collide with those of other
/// clients, and the wrong statement would run. Statements with the same hash are the same.
struct StatementNames {
  /// How many statements of the program use each name.
  private var users: [String: Int] = [:]
  /// Names that are no longer used, of statements that the server still has.
  private var discarded: [String] = []
  /// How often the statement of a hash got another name because its plan was out of date.
  private var changes: [String: Int] = [:]
  /// Incremented when the server has forgotten all names.
  private(set) var generation = 0

  /// Takes the name of a statement by its hash. Returns it, and whether the server has the statement.
  mutating func take(_ hash: String) -> (name: String, isKnown: Bool) {
    // A discarded statement may be out of date, so another name is taken.
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

  /// Makes the next statement with this hash use a name other than this one.
  mutating func retire(_ name: String, _ hash: String) {
    if current(hash) == name { changes[hash, default: 0] += 1 }
  }

  /// Takes the names that are no longer used, for the server to forget.
  mutating func takeDiscarded() -> [String] {
    defer { discarded = [] }
    return discarded
  }

  /// Notes that the server has forgotten all names.
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
    // A NUL ends the text, since no text contains one.
    add(0)
    for type in types {
      for shift in [0, 8, 16, 24] as [UInt32] { add(UInt8(truncatingIfNeeded: type >> shift)) }
    }
    return "larder_" + String(hash, radix: 36)
  }
}

/// Records whether the connections of an address keep prepared statements.
///
/// A pooler that gives a server's connection away between transactions may not keep them. This shows once a
/// statement is unexpectedly missing, or unexpectedly exists.
final class StatementKeeping: Sendable {
  private let isOff = Atomic<Bool>(false)

  var isOn: Bool { !isOff.load(ordering: .relaxed) }

  /// Turns it off. Returns whether it was on.
  func turnOff() -> Bool { !isOff.exchange(true, ordering: .relaxed) }
}
