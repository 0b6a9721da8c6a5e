import Foundation
import Larder

extension DatabaseValue {
  /// A value as it is stored; NULL for what can't be.
  static func from(_ value: (any DatabaseValueConvertible)?) -> DatabaseValue {
    (try? value?.databaseValue) ?? .null
  }
}

/// Rows that are compared byte by byte.
enum RowSet {
  /// A text that two rows have only if they are the same. Sums that were added in another order may
  /// differ in their last digits.
  static func key(_ row: [DatabaseValue], digits: Double = 1e9) -> String {
    row.map { value in
      switch value {
      case .null: "null"
      case .integer(let number): "i\(number)"
      case .real(let number):
        number.isFinite && number.magnitude < 1e15
          ? "r\((number * digits).rounded() / digits + 0)" : String(format: "r%.13e", number)
      case .text(let text): "t" + text.utf8.map { String($0, radix: 16) }.joined(separator: ".")
      case .blob(let bytes): "b\(bytes)"
      }
    }.joined(separator: " ")
  }

  static func distinct(_ rows: [[DatabaseValue]]) -> [[DatabaseValue]] {
    var seen: Set<String> = []
    return rows.filter { seen.insert(key($0)).inserted }
  }
}
