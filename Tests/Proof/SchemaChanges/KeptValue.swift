import Foundation
import Larder

/// Whether a value is kept in what another column has made of it, as Swift sees it.
enum KeptValue {
  static func isKept(_ old: DatabaseValue, as new: DatabaseValue) -> Bool {
    switch (old, new) {
    case (.null, .null): true
    case (.integer(let old), .integer(let new)): old == new
    case (.real(let old), .real(let new)): old.bitPattern == new.bitPattern
    case (.text(let old), .text(let new)): old.utf8.elementsEqual(new.utf8)
    case (.blob(let old), .blob(let new)): old == new
    case (.integer(let old), .real(let new)): Int64(exactly: new) == old
    case (.real(let old), .integer(let new)):
      Int64(exactly: old) == new && !(old == 0 && old.sign == .minus)
    case (.integer(let old), .text(let new)): new == String(old)
    case (.text(let old), .integer(let new)): old == String(new)
    case (.real(let old), .text(let new)): Double(new)?.bitPattern == old.bitPattern
    case (.text(let old), .real(let new)): old == text(new)
    default: false
    }
  }

  /// A number as SQLite writes it.
  private static func text(_ number: Double) -> String {
    let parts = String(format: "%.15g", number).split(separator: "e", maxSplits: 1)
    let digits = parts[0].contains(".") ? String(parts[0]) : parts[0] + ".0"
    return parts.count > 1 ? "\(digits)e\(parts[1])" : digits
  }
}
