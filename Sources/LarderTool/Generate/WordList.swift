import FoundationEssentials
import Larder

/// The different texts of a column with few of them.
struct WordList {
  /// The texts; nil if there are many, long ones, or values that aren't text.
  private(set) var words: Set<String>? = []
  private static let mostWords = 100
  private static let mostBytes = 100

  mutating func add(_ value: DatabaseValue) {
    guard words != nil else { return }
    guard case .text(let text) = value, text.utf8.count <= Self.mostBytes else {
      return words = nil
    }
    words?.insert(text)
    if words.map({ $0.count > Self.mostWords }) ?? false { words = nil }
  }
}

/// Whether numbers can be Decimals, and are the same numbers when they are written back.
struct DecimalForms {
  private(set) var areExact = true

  mutating func add(_ value: DatabaseValue) {
    guard areExact else { return }
    switch value {
    case .integer: break
    case .real(let number):
      // A column of numbers converts the text of the Decimal back to a real number.
      let decimal = try? Decimal(databaseValue: value)
      guard let decimal, case .text(let text)? = try? decimal.databaseValue else {
        return areExact = false
      }
      areExact = Double(text) == number
    default: areExact = false
    }
  }
}
