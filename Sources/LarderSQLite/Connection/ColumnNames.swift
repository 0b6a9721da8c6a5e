import CSQLite

/// The names of a result's columns, and where each is.
@usableFromInline
final class ColumnNames {
  let names: [String]
  /// Whether two columns have the same name, case aside; then every look-up is a full one.
  private let hasDuplicates: Bool
  /// Names as they were asked for, once found.
  private var found: [String: Int] = [:]
  /// Rows are mostly read in the same order, so that the next name asked for is the next column's.
  @exclusivity(unchecked) private var next = 0

  init(_ handle: OpaquePointer?, count: Int) {
    names = (0..<count).map { index in
      guard let name = sqlite3_column_name(handle, Int32(truncatingIfNeeded: index)) else {
        return ""
      }
      return String(cString: name)
    }
    hasDuplicates = Set(names.map { $0.lowercased() }).count < names.count
  }

  /// The position of a column, whose case may differ. Throws where there is none of that name, or
  /// more than one.
  @usableFromInline
  func index(of name: String, sql: String) throws -> Int {
    let expected = next < names.count ? next : 0
    if !hasDuplicates, expected < names.count, names[expected] == name {
      next = expected + 1
      return expected
    }
    if let index = found[name] {
      next = index + 1
      return index
    }
    let index = try search(name, sql: sql)
    found[name] = index
    next = index + 1
    return index
  }

  private func search(_ name: String, sql: String) throws -> Int {
    let lowercased = name.lowercased()
    let matches = names.indices.filter { names[$0].lowercased() == lowercased }
    guard let index = matches.first else {
      let all = names.isEmpty ? "there are none" : "there are \(names.joined(separator: ", "))"
      throw DatabaseError(.range, "no column “\(name)”: \(all)", sql: sql)
    }
    guard matches.count == 1 else {
      throw DatabaseError(
        .range, "column “\(name)” is there \(matches.count) times; use positions or AS", sql: sql)
    }
    return index
  }
}
