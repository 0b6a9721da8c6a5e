import Foundation
import Larder

/// Random JSON, read as Codable types by Larder's own scanner and by Foundation's decoder: what the scanner is sure of,
/// Foundation reads as well, and as the same value.
enum JSONReading: ProofRow {
  static let name = "json"
  static let number = 8
  static let unit = "documents"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let count = options.count ?? 10_000
    var sure = 0
    let subjects = subjects
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      var sampler = Sampler(seed: seed)
      let subject = subjects[Int(sampler.random.next() % UInt64(subjects.count))]
      var writer = JSONSample(sampler: sampler)
      writer.write(subject.shape)
      writer.spoil()
      switch subject.compare(writer.text) {
      case .same: sure += 1
      case .unsure: break
      case .different(let own, let foundation):
        result.failures.append(
          "seed \(seed): \(subject.type) of \(writer.text): \(own), Foundation reads \(foundation)")
      }
      result.tried += 1
      if result.failures.count > 20 { break }
    }
    result.details = ["\(sure * 100 / max(1, result.tried)) % by the scanner itself"]
    return result
  }

  enum Comparison {
    case same, unsure
    case different(String, String)
  }

  /// A type, and what its JSON looks like.
  struct Subject {
    let type: String
    let shape: JSONShape
    let compare: (String) -> Comparison

    init<Value: Decodable & Equatable>(_ type: Value.Type, _ shape: JSONShape) {
      self.type = "\(type)"
      self.shape = shape
      compare = { text in
        guard let own = try? JSONValueReader.value(type, of: text) else { return .unsure }
        do {
          let other = try JSONValueReader.foundation.decode(type, from: Data(text.utf8))
          // A zero's sign counts, too, but not the order of a dictionary or a set.
          return own == other && letters(own) == letters(other)
            ? .same : .different("\(own)", "\(other)")
        } catch {
          return .different("\(own)", "\(error)")
        }
      }
    }
  }

  private static func letters(_ value: Any) -> [Unicode.Scalar] {
    "\(value)".unicodeScalars.sorted()
  }

  private static var subjects: [Subject] {
    [
      Subject([String].self, .list(.text)), Subject([Int].self, .list(.number)),
      Subject([Int64?].self, .list(.number)), Subject([Double].self, .list(.number)),
      Subject([Float].self, .list(.number)), Subject([Bool].self, .list(.bool)),
      Subject([UInt8].self, .list(.number)), Subject([Int128].self, .list(.number)),
      Subject([Decimal].self, .list(.number)), Subject([[String]].self, .list(.list(.text))),
      Subject([String: Int].self, .dictionary(.number)),
      Subject([String: [String]].self, .dictionary(.list(.text))),
      Subject([String: String].self, .dictionary(.text)),
      Subject([String: Bool].self, .dictionary(.bool)),
      Subject([String: Double].self, .dictionary(.number)),
      Subject([Int: String].self, .dictionary(.text)), Subject(Set<String>.self, .list(.text)),
      Subject([Level].self, .list(.word(["low", "high", "other"]))),
      Subject(Everything.self, Everything.shape),
      Subject([Everything?].self, .list(Everything.shape)),
      Subject(
        Choice.self,
        .object([("number", .object([("_0", .number)])), ("text", .object([("value", .text)]))])),
      Subject([Lossy].self, .list(.any)), Subject(Lossy.self, .any), Subject(AnyValue.self, .any),
      Subject(Skipping.self, .list(.any)),
      Subject(
        Derived.self,
        .object([("name", .text), ("super", .object([("id", .number)])), ("id", .number)])),
      Subject(String.self, .text), Subject(Int.self, .number), Subject(Double.self, .number),
      Subject(Bool?.self, .bool),
      Subject(UUID.self, .word(["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "x"])),
      Subject(Date.self, .date), Subject([Data].self, .list(.word(["AAEC", "YQ==", "*", ""]))),
      Subject([URL].self, .list(.word(["https://example.org/a?b=c", "", "a b", "x:y"]))),
    ]
  }
}

private enum Level: String, Codable { case low, high }

private enum Choice: Codable, Equatable {
  case number(Int)
  case text(value: String)
}

private struct Everything: Codable, Equatable {
  struct Inner: Codable, Equatable {
    var a: Int8?
    var ß: String
  }
  var name: String
  var count: Int
  var ratio: Double?
  var isOn: Bool
  var level: Level?
  var tags: [String]
  var inner: Inner
  var inners: [Inner]?
  var at: Date?
  var id: UUID?
  var size: UInt64?

  static let shape: JSONShape = .object([
    ("name", .text), ("count", .number), ("ratio", .number), ("isOn", .bool),
    ("level", .word(["low", "high"])), ("tags", .list(.text)), ("inner", inner),
    ("inners", .list(inner)),
    ("at", .date), ("id", .word(["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"])), ("size", .number),
  ])
  private static let inner: JSONShape = .object([("a", .number), ("ß", .text)])
}

/// A value of one of several types, which its own code tries one after the other.
private enum Lossy: Decodable, Equatable {
  case integer(Int), real(Double), text(String), list([Lossy]), nothing

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let integer = try? value.decode(Int.self) {
      self = .integer(integer)
    } else if let real = try? value.decode(Double.self) {
      self = .real(real)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Lossy].self) {
      self = .list(list)
    } else {
      self = .nothing
    }
  }
}

/// Any JSON.
private indirect enum AnyValue: Decodable, Equatable {
  case null, bool(Bool), number(Double), text(String), list([AnyValue]), object([String: AnyValue])

  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      var members: [String: AnyValue] = [:]
      for key in object.allKeys {
        members[key.stringValue] = try object.decode(AnyValue.self, forKey: key)
      }
      self = .object(members)
    } else if var list = try? decoder.unkeyedContainer() {
      var elements: [AnyValue] = []
      while !list.isAtEnd { elements.append(try list.decode(AnyValue.self)) }
      self = .list(elements)
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else {
        self = .text(try value.decode(String.self))
      }
    }
  }

  // Descriptions of dictionaries have no order.
  static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a.bitPattern == b.bitPattern
    case (.text(let a), .text(let b)): a.unicodeScalars.elementsEqual(b.unicodeScalars)
    case (.list(let a), .list(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}

extension AnyValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .object(let members):
      "\(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
    case .list(let elements): "\(elements)"
    case .text(let text): text.debugDescription
    case .number(let number): "\(number)"
    case .bool(let bool): "\(bool)"
    case .null: "null"
    }
  }
}

/// A list of which what isn't a text is skipped.
private struct Skipping: Decodable, Equatable {
  struct Anything: Decodable {}
  var texts: [String] = []
  var skipped = 0

  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd, skipped < 1000 {
      if let text = try? list.decode(String.self) {
        texts.append(text)
      } else if try list.decodeNil() {
        skipped += 10
      } else {
        skipped += 1
        _ = try? list.decode(Anything.self)
      }
    }
  }
}

private class Base: Decodable, Equatable, CustomStringConvertible {
  let id: Int
  var description: String { "\(id)" }
  static func == (one: Base, other: Base) -> Bool { one.description == other.description }
}

private final class Derived: Base {
  enum CodingKeys: CodingKey { case name, missing }
  let name: String
  let hasMissing: Bool

  required init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    name = try members.decode(String.self, forKey: .name)
    hasMissing = try members.superDecoder(forKey: .missing).singleValueContainer().decodeNil()
    try super.init(from: members.superDecoder())
  }

  override var description: String { "\(id) \(name) \(hasMissing)" }
}
