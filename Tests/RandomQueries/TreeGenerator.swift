import Foundation
import Larder
import TestSupport

/// Makes random expressions.
package final class TreeGenerator {
  private var random: SeededGenerator
  let data: RandomData
  /// Whether what is made now may be refused: not in conditions, of which nobody knows on which rows they are tried.
  var mayBeRefused = true

  /// How connections store dates; nil for any way.
  let dateFormat: DateFormat?

  package init(_ random: SeededGenerator, _ data: RandomData, dateFormat: DateFormat? = nil) {
    self.random = random
    self.data = data
    self.dateFormat = dateFormat
  }

  convenience init(seed: UInt64, _ data: RandomData, dateFormat: DateFormat? = nil) {
    self.init(SeededGenerator(seed: seed), data, dateFormat: dateFormat)
  }

  func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  /// True once in so many times.
  func chance(_ count: Int) -> Bool { number(0..<count) == 0 }

  func pick<T>(_ choices: [T]) -> T { choices[number(0..<choices.count)] }

  var word: String { pick(RandomData.texts) }

  /// A part of a text of the data.
  var part: String {
    let scalars = Array(word.unicodeScalars)
    guard !scalars.isEmpty else { return "" }
    let start = number(0..<scalars.count)
    var part = String.UnicodeScalarView()
    part.append(contentsOf: scalars[start..<number(start..<scalars.count) + 1])
    return String(part)
  }

  // MARK: Numbers

  func integer(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int> {
    if depth == 0 || chance(5) {
      return chance(4) || leaves.integers.isEmpty
        ? .constant(number(-4..<21)) : pick(leaves.integers)
    }
    switch number(0..<5) {
    case 0, 1: return arithmetic(leaves, depth)
    case 2: return bits(leaves, depth)
    case 3: return integerFunction(leaves, depth)
    default: return nullHandling(leaves, depth)
    }
  }

  private func arithmetic(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int> {
    let left = integer(leaves, depth - 1)
    let right = chance(3) ? .constant(number(-3..<6)) : integer(leaves, depth - 1)
    let value = number(-3..<6)
    switch number(0..<9) {
    case 0: return left.combined(right, left.sql + right.sql) { try $0.sum($1) }
    case 1: return left.map(left.sql + value) { try $0.sum(.integer(Int64(value))) }
    case 2: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    case 3: return left.map(left.sql - value) { try $0.difference(.integer(Int64(value))) }
    case 4: return left.combined(right, left.sql * right.sql) { try $0.product($1) }
    case 5: return left.combined(right, left.sql / right.sql) { try $0.divided(by: $1) }
    case 6: return left.map(left.sql / value) { try $0.divided(by: .integer(Int64(value))) }
    case 7: return left.combined(right, left.sql % right.sql) { try $0.rest(by: $1) }
    default: return left.map(-left.sql) { try DatabaseValue.integer(0).difference($0) }
    }
  }

  private func bits(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int> {
    let (left, right) = (integer(leaves, depth - 1), integer(leaves, depth - 1))
    let value = number(-1..<8)
    switch number(0..<6) {
    case 0: return left.combined(right, left.sql & right.sql) { try $0.bits($1, &) }
    case 1: return left.combined(right, left.sql | right.sql) { try $0.bits($1, |) }
    case 2: return left.map(left.sql & value) { try $0.bits(.integer(Int64(value)), &) }
    case 3: return left.map(left.sql << value) { try $0.bits(.integer(Int64(value)), <<) }
    case 4: return left.map(left.sql >> value) { try $0.bits(.integer(Int64(value)), >>) }
    default: return left.map(~left.sql) { try $0.bits($0) { left, _ in ~left } }
    }
  }

  private func integerFunction(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int> {
    let (left, right) = (integer(leaves, depth - 1), integer(leaves, depth - 1))
    switch number(0..<5) {
    case 0:
      let text = text(leaves, depth - 1)
      return text.map(text.sql.length) { .integer(Int64(try $0.scalars.count)) }
    case 1:
      return left.combined(right, left.sql.least(right.sql)) {
        try $0.compared(to: $1) <= 0 ? $0 : $1
      }
    case 2:
      return left.combined(right, left.sql.greatest(right.sql)) {
        try $0.compared(to: $1) > 0 ? $0 : $1
      }
    case 3:
      let real = real(leaves, 0)
      return real.map(real.sql.cast(to: Int.self)) { $0.wholeNumber }
    default:
      return left.map(left.sql.magnitude) {
        if $0 == .integer(.min) { throw Refused("a magnitude of more than 64 bits") }
        return try $0.compared(to: .integer(0)) < 0
          ? try DatabaseValue.integer(0).difference($0) : $0
      }
    }
  }

  private func nullHandling(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int> {
    let optional = optionalInteger(leaves, depth - 1)
    let other = integer(leaves, depth - 1)
    if chance(3) {
      let value = number(-3..<6)
      return Tree(optional.sql.coalesce(value)) {
        let known = try optional.value($0)
        return known.isNull ? .integer(Int64(value)) : known
      }
    }
    if chance(2) {
      return Tree(optional.sql.coalesce(other.sql)) {
        let known = try optional.value($0)
        return known.isNull ? try other.value($0) : known
      }
    }
    let (condition, first) = (condition(leaves, depth - 1), integer(leaves, depth - 1))
    return Tree(when(condition.sql, then: first.sql).otherwise(other.sql)) {
      try condition.value($0).truth == true ? try first.value($0) : try other.value($0)
    }
  }

  func optionalInteger(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int?> {
    if depth == 0 || chance(3) {
      return chance(6) || leaves.optionalIntegers.isEmpty
        ? .constant(chance(2) ? nil : 2) : pick(leaves.optionalIntegers)
    }
    switch number(0..<5) {
    case 0: return optionalArithmetic(leaves, depth)
    case 1:
      let (text, part) = (text(leaves, depth - 1), part)
      return text.map(text.sql.position(of: part)) { try $0.position(of: part) }
    case 2:
      let (condition, value) = (condition(leaves, depth - 1), integer(leaves, depth - 1))
      return Tree(when(condition.sql, then: value.sql).otherwiseNull) {
        try condition.value($0).truth == true ? try value.value($0) : .null
      }
    case 3: return firstOfSubquery(leaves, depth)
    default:
      let real = optionalReal(leaves, 0)
      return real.map(real.sql.cast(to: Int?.self)) { $0.wholeNumber }
    }
  }

  private func optionalArithmetic(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int?> {
    let (left, right) = (optionalInteger(leaves, depth - 1), optionalInteger(leaves, depth - 1))
    let integer = integer(leaves, depth - 1)
    switch number(0..<5) {
    case 0: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    case 1: return left.combined(integer, left.sql * integer.sql) { try $0.product($1) }
    case 2: return integer.combined(left, integer.sql / left.sql) { try $0.divided(by: $1) }
    case 3: return left.map(left.sql + 3) { try $0.sum(.integer(3)) }
    default: return integer.combined(left, integer.sql - left.sql) { try $0.difference($1) }
    }
  }

  func real(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Double> {
    if depth == 0 || chance(4) || leaves.reals.isEmpty {
      return chance(4) || leaves.reals.isEmpty
        ? .constant(Double(number(-9..<10)) / 4) : pick(leaves.reals)
    }
    let (left, right) = (real(leaves, depth - 1), real(leaves, depth - 1))
    switch number(0..<7) {
    case 0: return left.combined(right, left.sql + right.sql) { try $0.sum($1) }
    case 1: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    case 2: return left.map(left.sql * 1.5) { try $0.product(.real(1.5)) }
    case 3: return left.combined(right, left.sql / right.sql) { try $0.divided(by: $1) }
    case 4:
      let digits = number(0..<3)
      return left.map(left.sql.rounded(digits)) { .real(try $0.rounded(digits)) }
    case 5:
      let integer = integer(leaves, depth - 1)
      return integer.map(integer.sql.cast(to: Double.self)) { .real($0.number ?? 0) }
    default:
      let optional = optionalReal(leaves, depth - 1)
      return Tree(optional.sql.coalesce(-0.5)) {
        let known = try optional.value($0)
        return known.isNull ? .real(-0.5) : known
      }
    }
  }

  func optionalReal(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Double?> {
    if leaves.optionalReals.isEmpty || chance(8) { return .constant(chance(3) ? nil : 0.25) }
    return pick(leaves.optionalReals)
  }
}

extension DatabaseValue {
  func sum(_ other: DatabaseValue) throws -> DatabaseValue {
    try arithmetic(other, { $0.addingReportingOverflow($1) }, +)
  }

  func difference(_ other: DatabaseValue) throws -> DatabaseValue {
    try arithmetic(other, { $0.subtractingReportingOverflow($1) }, -)
  }

  func product(_ other: DatabaseValue) throws -> DatabaseValue {
    try arithmetic(other, { $0.multipliedReportingOverflow(by: $1) }, *)
  }

  func rest(by other: DatabaseValue) throws -> DatabaseValue {
    guard case .integer(let left) = wholeNumber, case .integer(let right) = other.wholeNumber else {
      throw UnknownValue()
    }
    if right == 0 { return .null }
    let rest = left.remainderReportingOverflow(dividingBy: right).0
    // Of integers that were too large a real number, too.
    if case (.integer, .integer) = (self, other) { return .integer(rest) }
    return .real(Double(rest))
  }

  func bits(_ other: DatabaseValue, _ combine: (Int64, Int64) -> Int64) throws -> DatabaseValue {
    guard case .integer(let left) = wholeNumber, case .integer(let right) = other.wholeNumber else {
      throw UnknownValue()
    }
    return .integer(combine(left, right))
  }

  /// Halves go away from zero.
  func rounded(_ digits: Int) throws -> Double {
    guard let number else { throw UnknownValue() }
    if number.magnitude > 0x1p52 { return number }
    let power = [1.0, 10, 100][digits]
    return (number * power).rounded(.toNearestOrAwayFromZero) / power
  }
}
