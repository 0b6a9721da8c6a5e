import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

/// A JSON value: the test's model.
private indirect enum Tree {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([Tree])
  case object([(String, Tree)])

  private static let names = [
    "a", "b", "", "a.b", "a\"b", "[0]", "0", "#", "$", "größe", "城市", "\\", "it's", "\u{1}",
    "e\u{301}",
    "é", "😀", "a b", "--", "\n",
  ]
  private static let reals = [
    0.1, -0.0, 1e300, Double.leastNonzeroMagnitude, 123456789.125, 0.30000000000000004,
    9_007_199_254_740_993.0, -1.5,
  ]

  static func random(depth: Int, _ random: inout some RandomNumberGenerator) -> Tree {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2:
      return .integer(
        [Int64.min, .max, 0, 7, 9_007_199_254_740_993].randomElement(using: &random) ?? 0)
    case 3: return .integer(Int64.random(in: -9...9, using: &random))
    case 4:
      let digits = Double.random(in: -1e6...1e6, using: &random)
      return .real(Bool.random(using: &random) ? digits : reals.randomElement(using: &random) ?? 0)
    case 5: return .text(names.randomElement(using: &random) ?? "")
    case 6:
      return .array(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in .random(depth: depth - 1, &random) })
    default:
      let chosen = names.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random))
      return .object(chosen.map { ($0, .random(depth: depth - 1, &random)) })
    }
  }

  /// A path that usually leads to a value.
  func path(_ random: inout some RandomNumberGenerator) -> [Step] {
    if Int.random(in: 0..<8, using: &random) == 0 {
      return Bool.random(using: &random)
        ? [.name(Tree.names.randomElement(using: &random) ?? "")]
        : [.element(Int.random(in: -5...5, using: &random))]
    }
    switch self {
    case .array(let elements) where !elements.isEmpty:
      let index = Int.random(in: 0..<elements.count, using: &random)
      let step = Bool.random(using: &random) ? index : index - elements.count
      return [.element(step)] + elements[index].path(&random)
    case .object(let members) where !members.isEmpty:
      let (name, member) = members[Int.random(in: 0..<members.count, using: &random)]
      return [.name(name)] + member.path(&random)
    default: return []
    }
  }

  func value(at path: ArraySlice<Step>) -> Tree? {
    guard let step = path.first else { return self }
    switch (self, step) {
    case (.array(let elements), .element(let index)):
      let index = index < 0 ? elements.count + index : index
      return elements.indices.contains(index) ? elements[index].value(at: path.dropFirst()) : nil
    case (.object(let members), .name(let name)):
      return members.first { $0.0.utf8.elementsEqual(name.utf8) }?.1.value(at: path.dropFirst())
    default: return nil
    }
  }

  /// The value as JSON text, with random escapes and white space.
  func text(_ random: inout some RandomNumberGenerator) -> String {
    let space = ["", "", " ", "\n\t"].randomElement(using: &random) ?? ""
    switch self {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .real(let value): return "\(value)"
    case .text(let value): return Tree.quoted(value, &random)
    case .array(let elements):
      return "[" + space + elements.map { $0.text(&random) + space }.joined(separator: ",") + "]"
    case .object(let members):
      let texts = members.map {
        Tree.quoted($0.0, &random) + space + ":" + space + $0.1.text(&random)
      }
      return "{" + texts.joined(separator: "," + space) + "}"
    }
  }

  private static func quoted(_ text: String, _ random: inout some RandomNumberGenerator) -> String {
    let escapesAll = Int.random(in: 0..<4, using: &random) == 0
    let units = text.utf16.map { unit in
      if escapesAll || unit < 0x20 || unit == 0x22 || unit == 0x5C {
        return [UInt16]("\\u\(String(format: "%04X", Int(unit)))".utf16)
      }
      return [unit]
    }
    return "\"" + String(decoding: units.joined(), as: UTF16.self) + "\""
  }

  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer, .real: "number"
    case .text: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

private enum Step {
  case name(String)
  case element(Int)
}

extension JSONExpression {
  fileprivate func at(_ path: [Step]) -> JSONExpression {
    path.reduce(self) { place, step in
      switch step {
      case .name(let name): place[name]
      case .element(let index): place[index]
      }
    }
  }

  fileprivate mutating func set(_ path: ArraySlice<Step>, _ value: JSONExpression) {
    guard let step = path.first else { return }
    let rest = path.dropFirst()
    switch step {
    case .name(let name):
      if rest.isEmpty { self[name] = value } else { self[name].set(rest, value) }
    case .element(let index):
      if rest.isEmpty { self[index] = value } else { self[index].set(rest, value) }
    }
  }
}

@Suite("Random JSON")
struct RandomJSONTests {
  @Test(
    "Random JSON documents are read, compared and changed at random paths as in Swift",
    arguments: 0..<4
  )
  func documents(seed: Int) throws {
    let db = try Database.jsonJobs()
    var random = SeededGenerator(seed: UInt64(seed) + 1)
    let job = JSONJob.filter { $0.id == 1 }
    for _ in 0..<(TestEngine.isPostgres ? 60 : 400) {
      let tree = Tree.random(depth: 4, &random)
      let text = tree.text(&random)
      try job.update(db) { $0.text = .value(text) }
      let path = tree.path(&random)
      let found = tree.value(at: path[...])
      func select<V: DatabaseValueConvertible>(
        _ make: (JSONExpression) -> SQLExpression<V>
      ) throws -> V {
        try job.select { make($0.text.json.at(path)) }.fetchAll(db)[0]
      }
      func holds(_ condition: (JSONExpression) -> SQLExpression<Bool>) throws -> Bool {
        try job.filter { condition($0.text.json.at(path)) }.fetchCount(db) == 1
      }
      let comment = Comment(rawValue: "\(text) at \(path)")
      #expect(try select(\.type) == found?.typeName, comment)
      let isNothing = found.map { $0.typeName == "null" } ?? true
      #expect(try holds(\.isNull) == isNothing, comment)
      switch found {
      case .integer(let value):
        #expect(try select { $0.as(Int64.self) } == value, comment)
        #expect(try holds { $0 == value && $0 >= value && $0 <= value }, comment)
        #expect(try value == .max || holds { $0 < value + 1 && $0 != value + 1 }, comment)
        #expect(try !holds { $0 == "\(value)" }, comment)
        #expect(try !holds { $0 != value }, comment)
      case .real(let value):
        #expect(try select { $0.as(Double.self) } == value, comment)
        #expect(try holds { $0 == value && $0 >= value }, comment)
        #expect(try !holds { $0 == value.nextUp || $0 > value }, comment)
        if !TestEngine.isPostgres {
          #expect(throws: DatabaseError.self, comment) { try select { $0.as(Int.self) } }
        }
      case .text(let value):
        #expect(
          try select { $0.as(String.self) }.map { Array($0.utf8) } == Array(value.utf8), comment)
        #expect(try holds { $0 == value && $0 <= value }, comment)
        #expect(try !holds { $0 == value + "x" || $0 > 0 || $0 == true }, comment)
      case .bool(let value):
        #expect(try select { $0.as(Bool.self) } == value, comment)
        #expect(try holds { $0 == value }, comment)
        #expect(try !holds { $0 == 1 || $0 == 0 }, comment)
      case .array(let elements):
        #expect(try select(\.count) == elements.count, comment)
        let rows = try JSONJob.filter { $0.id == 1 }.join(each: { $0.text.json.at(path) })
          .order { $1.index }.select { $1.value.type }.fetchAll(db)
        #expect(rows == elements.map(\.typeName), comment)
        #expect(throws: DatabaseError.self, comment) { try select { $0.as(Int.self) } }
      case .object(let members):
        #expect(try select(\.count) == nil, comment)
        let names = try JSONJob.filter { $0.id == 1 }.join(each: { $0.text.json.at(path) })
          .select { $1.name }.fetchAll(db)
        #expect(
          Set(names.map { Array(($0 ?? "-").utf8) }) == Set(members.map { Array($0.0.utf8) }),
          comment)
      case .null, nil:
        #expect(try select { $0.as(Int.self) } == nil, comment)
        #expect(try select { $0.as(String.self) } == nil, comment)
      }
      guard !path.isEmpty else { continue }
      // Setting a path either stores the value or throws and changes nothing.
      let value = Int64.random(in: .min ... .max, using: &random)
      do {
        try job.update(db) { $0.text.json.set(path[...], .value(value)) }
        #expect(try select { $0.as(Int64.self) } == value, comment)
        try job.update(db) { $0.text.json.set(path[...], .value(["q": [value]])) }
        #expect(try holds { $0["q"].contains(value) }, comment)
      } catch is DatabaseError {
        #expect(found == nil, comment)
        #expect(try JSONJob.find(db, 1).text == text, comment)
      }
    }
  }
}
