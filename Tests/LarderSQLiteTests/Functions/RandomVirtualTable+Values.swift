import LarderSQLite
import LarderVirtualTables

// SQLite's comparison of values, implemented in Swift.

extension RandomVirtualTable.Column {
  var typeName: String {
    switch type {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    default: ""
    }
  }

  /// Compares in SQLite's order: NULL, numbers, texts by the collation, blobs.
  func compare(_ first: DatabaseValue, _ second: DatabaseValue) -> Int {
    let keys = [first, second].map { value -> (Int, Double, [UInt8]) in
      switch value {
      case .null: (0, 0, [])
      case .integer(let number): (1, Double(number), [])
      case .real(let number): (1, number, [])
      case .text(let text): (2, 0, text.folded(collation))
      case .blob(let bytes): (3, 0, bytes)
      }
    }
    if keys[0].0 != keys[1].0 { return keys[0].0 < keys[1].0 ? -1 : 1 }
    if keys[0].1 != keys[1].1 { return keys[0].1 < keys[1].1 ? -1 : 1 }
    if keys[0].2 == keys[1].2 { return 0 }
    return keys[0].2.lexicographicallyPrecedes(keys[1].2) ? -1 : 1
  }
}

extension String {
  fileprivate func folded(_ collation: String?) -> [UInt8] {
    switch collation {
    case "NOCASE": return utf8.map { (0x41...0x5a).contains($0) ? $0 + 32 : $0 }
    case "RTRIM":
      var bytes = Array(utf8)
      while bytes.last == 0x20 { bytes.removeLast() }
      return bytes
    default: return Array(utf8)
    }
  }
}

extension DatabaseValue {
  /// A text that is the same for values that are equal by the collation, if there is one.
  func comparable(_ collation: String?) -> String {
    switch self {
    case .null: "-"
    case .integer(let number): "\(Double(number))"
    case .real(let number): "\(number == 0 ? 0 : number)"
    case .text(let text): "t\(text.folded(collation))"
    case .blob(let bytes): "b\(bytes)"
    }
  }
}
