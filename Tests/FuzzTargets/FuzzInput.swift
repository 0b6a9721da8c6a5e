import Foundation
import Larder

/// The bytes of one run, from which a target takes what it needs; zeros once they are used up.
struct FuzzInput {
  private var rest: ArraySlice<UInt8>

  init(_ data: UnsafePointer<UInt8>?, _ count: Int) {
    rest = Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : count))[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number below a limit.
  mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

  mutating func integer() -> Int64 {
    // Few bytes make small numbers, which are the more likely ones.
    let count = number(below: 9)
    return Int64(truncatingIfNeeded: (0..<count).reduce(0) { all, _ in all << 8 | UInt64(byte()) })
  }

  mutating func bits() -> UInt64 { (0..<8).reduce(0) { all, _ in all << 8 | UInt64(byte()) } }

  /// As many bytes as the next one says.
  mutating func bytes() -> [UInt8] {
    let bytes = Array(rest.prefix(Int(byte())))
    rest = rest.dropFirst(bytes.count)
    return bytes
  }

  /// What is left.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }

  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

  /// A value of any storage class that can be stored.
  mutating func value() -> DatabaseValue {
    switch number(below: 5) {
    case 0: return .null
    case 1: return .integer(integer())
    case 2:
      let number = Double(bitPattern: bits())
      return .real(number.isNaN ? 0.5 : number)
    case 3: return .text(text())
    default: return .blob(bytes())
    }
  }
}

/// Ends the run with what was found, which keeps the input.
func found(_ problem: String) -> Never { fatalError(problem) }

/// Runs what must not throw.
func expectSuccess<T>(_ what: String, _ body: () throws -> T) -> T {
  do {
    return try body()
  } catch {
    found("\(what): \(error)")
  }
}

extension DatabaseValue {
  /// Whether both are the same bytes.
  func isExactly(_ other: DatabaseValue) -> Bool {
    switch (self, other) {
    case (.text(let one), .text(let two)): one.utf8.elementsEqual(two.utf8)
    case (.real(let one), .real(let two)): one.bitPattern == two.bitPattern
    default: self == other
    }
  }
}

/// Whether two rows are the same bytes.
func same(_ one: [DatabaseValue], _ two: [DatabaseValue]) -> Bool {
  one.count == two.count && zip(one, two).allSatisfy { $0.isExactly($1) }
}
