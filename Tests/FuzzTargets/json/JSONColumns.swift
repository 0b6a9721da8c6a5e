import Foundation
import Larder

// Text of any bytes in a column, read as JSON of several types by Larder's scanner: it is the value that Foundation's decoder
// reads, or an error where that throws one.

nonisolated(unsafe) let db = expectSuccess("opening") { try Database() }

/// One run of libFuzzer: a type, and the text.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(data, count)
  let type = types[input.number(below: types.count)]
  let bytes = input.remainder()
  check(type, bytes)
  return 0
}

let types: [any (Codable & Sendable).Type] = [
  [String].self, [Int].self, [Double].self, [Float].self, [Bool?].self, [UInt8].self,
  [Decimal].self, [[Int]].self, [String: String].self, [String: Int16].self,
  [String: [Double]].self, Place.self, [Place].self, Tree.self, String.self, UInt64?.self,
  [Data].self, [URL].self, UUID.self, [Int: Int].self,
  Either.self,
]

struct Place: Codable, Sendable {
  var name: String
  var population: Int?
  var area: Double
  var isCapital: Bool
  var twins: [String]?
}

struct Tree: Codable, Sendable {
  var name: String?
  var children: [Tree]?
}

/// A value of one of several types, tried in turn.
enum Either: Codable, Sendable {
  case number(Float), text(String), list([Either]), members([String: Either]), nothing

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(Float.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Either].self) {
      self = .list(list)
    } else if let members = try? value.decode([String: Either].self) {
      self = .members(members)
    } else {
      self = .nothing
    }
  }

  func encode(to encoder: any Encoder) throws {}
}

let foundation = JSONDecoder()

func check<Value: Codable & Sendable>(_ type: Value.Type, _ bytes: [UInt8]) {
  let own = Result {
    guard let json = try db.value("SELECT CAST(\(bytes) AS TEXT)", as: JSON<Value>.self) else {
      found("\(type) of a text is NULL")
    }
    return json.value
  }
  if case .failure(let error) = own, !(error is ConversionError) { found("\(type): \(error)") }
  // Text that isn't UTF-8 is refused before it is read as JSON.
  guard let text = String(validating: bytes, as: UTF8.self) else {
    if case .success(let value) = own { found("\(type) \(value) of \(bytes), which aren't UTF-8") }
    return
  }
  let other = Result { try foundation.decode(type, from: Data(text.utf8)) }
  switch (own, other) {
  case (.success(let one), .success(let two)):
    if letters(one) != letters(two) {
      found("\(type) of \(text.debugDescription) is \(one), not \(two)")
    }
  case (.failure, .failure): break
  case (.success(let value), .failure(let error)):
    found("\(type) of \(text.debugDescription) is \(value), not \(error)")
  case (.failure(let error), .success(let value)):
    found("\(type) of \(text.debugDescription) throws \(error), and is \(value)")
  }
}

/// A value's description, with the members of dictionaries in any order.
func letters(_ value: Any) -> [Unicode.Scalar] { "\(value)".unicodeScalars.sorted() }
