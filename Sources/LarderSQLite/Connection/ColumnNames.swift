import CSQLite

/// The names of a result's columns, and where each is.
@usableFromInline
package final class ColumnNames {
  package let names: [String]
  /// The names again, or none where two columns have the same, case aside: then every look-up is
  /// a full one.
  @usableFromInline let unique: [String]
  /// Rows are mostly read in the same order, so that the next name asked for is the next column's.
  @exclusivity(unchecked) @usableFromInline var next = 0
  /// Where somebody needs the columns, who has asked before; kept, so that nobody else gets to be at
  /// the same address.
  private var layout: (owner: AnyObject, positions: AnyObject)?
  /// Names as they were asked for, once found.
  private var found: [[UInt8]: Int] = [:]

  convenience init(_ handle: OpaquePointer?, count: Int) {
    let names = (0..<(handle == nil ? 0 : count)).map { index in
      guard let name = sqlite3_column_name(handle, Int32(truncatingIfNeeded: index)) else {
        return ""
      }
      return String(cString: name)
    }
    self.init(names)
  }

  init(_ names: [String]) {
    self.names = names
    unique = Set(names.map(\.foldedName)).count < names.count ? [] : names
  }

  /// The position of a column if it is the one that is expected next, spelled as it is in the
  /// result; otherwise nil.
  @inlinable @inline(__always)
  func expected(_ name: String) -> Int? {
    let index = next
    guard index < unique.count, unique[index].isSame(as: name) else { return nil }
    next = index &+ 1 == unique.count ? 0 : index &+ 1
    return index
  }

  /// The position of a column, whose case may differ. Throws where there is none of that name, or
  /// more than one.
  package func index(of name: String, sql: String) throws -> Int {
    if let index = expected(name) { return index }
    let bytes = Array(name.utf8)
    let index = try found[bytes] ?? search(name, sql: sql)
    found[bytes] = index
    next = index + 1 == unique.count ? 0 : index + 1
    return index
  }

  /// What an owner has made of the names before, or makes now.
  package func layout<Layout: AnyObject>(
    for owner: AnyObject, _ make: () throws -> Layout
  ) rethrows -> Layout {
    if let layout, layout.owner === owner, let positions = layout.positions as? Layout {
      return positions
    }
    let made = try make()
    layout = (owner, made)
    return made
  }

  private func search(_ name: String, sql: String) throws -> Int {
    let folded = name.foldedName
    let matches = names.indices.filter { names[$0].foldedName == folded }
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
