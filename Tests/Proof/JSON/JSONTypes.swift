import Foundation

enum Level: String, Codable { case low, high }

enum Choice: Codable, Equatable {
  case number(Int)
  case text(value: String)
}

struct Everything: Codable, Equatable {
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
enum Lossy: Decodable, Equatable {
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
indirect enum AnyValue: Decodable, Equatable {
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
struct Skipping: Decodable, Equatable {
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

class Base: Decodable, Equatable, CustomStringConvertible {
  let id: Int
  var description: String { "\(id)" }
  static func == (one: Base, other: Base) -> Bool { one.description == other.description }
}

final class Derived: Base {
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

/// Numbers, where what can't be read is counted: whether a number is one to both decoders.
struct Numbers: Decodable, Equatable {
  var numbers: [Float] = []
  var others = 0

  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      if let number = try? list.decode(Float.self) {
        numbers.append(number)
      } else {
        _ = try list.decode(AnyValue.self)
        others += 1
      }
    }
  }
}

/// Where a value isn't an integer: what the error says.
struct Wrong: Decodable, Equatable {
  var place = ""

  init(from decoder: any Decoder) throws {
    do {
      place = "\(try decoder.singleValueContainer().decode(Int8.self))"
    } catch DecodingError.typeMismatch(let type, let context) {
      place = "\(type) at \(Self.text(context.codingPath)), \(Self.text(decoder.codingPath))"
    } catch DecodingError.valueNotFound(let type, let context) {
      place = "null, not \(type) at \(Self.text(context.codingPath))"
    }
  }

  // In Foundation's paths, members have the type's own keys, which may be numbers as well: in Larder's, just names.
  private static func text(_ path: [any CodingKey]) -> String {
    path.map(\.stringValue).joined(separator: ".")
  }
}

/// The members of an object, the last name first.
struct Backwards: Decodable, Equatable {
  var members: [String: Int8?] = [:]

  init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: AnyValue.Key.self)
    for key in object.allKeys.sorted(by: { $0.stringValue > $1.stringValue }) {
      members[key.stringValue] = try? object.decode(Int8.self, forKey: key)
    }
  }
}

/// A type of more members than are compared one by one.
struct Wide: Codable, Equatable {
  var a: Int?, b: Int?, c: Int?, d: Int?, e: Int?, f: Int?, g: Int?, h: Int?, i: Int?, j: Int?
  var k: String, l: [String]?, m: Bool?, n: Double?, o: Int?, p: Int?, q: Int?, r: Int?, s: Int?

  static let shape: JSONShape = .object(
    "abcdefghijklmnopqrs".map { name in
      switch name {
      case "k": ("k", .text)
      case "l": ("l", .list(.text))
      case "m": ("m", .bool)
      default: ("\(name)", .number)
      }
    })
}
