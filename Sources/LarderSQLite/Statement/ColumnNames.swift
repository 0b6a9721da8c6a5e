/// The names of a result's columns, and their positions.
@usableFromInline
package final class ColumnNames {
  package let names: [String]
  /// The names again; empty if two are the same in any case, so that every look-up is a full search.
  @usableFromInline let unique: [String]
  /// The column expected next: rows are mostly read in the same order, column after column.
  @exclusivity(unchecked) @usableFromInline var next = 0
  /// The owner and column positions of the last ``layout(for:_:)``. Retains the owner so that its
  /// address can't be reused.
  private var layout: (owner: AnyObject, positions: AnyObject)?
  /// Positions found so far, by the names as they were spelled.
  private var found: [[UInt8]: Int] = [:]

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

  /// The position of a column by its name in any case. Throws if no column has that name, or more than one.
  package func index(of name: String, sql: String) throws -> Int {
    if let index = expected(name) { return index }
    let bytes = Array(name.utf8)
    let index = try found[bytes] ?? search(name, sql: sql)
    found[bytes] = index
    next = index + 1 == unique.count ? 0 : index + 1
    return index
  }

  /// The layout that an owner has made of the names before, or makes now.
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
      let all =
        names.isEmpty ? "there are no columns" : "the columns are \(names.joined(separator: ", "))"
      throw DatabaseError(.range, "no column “\(name)”: \(all)", sql: sql)
    }
    guard matches.count == 1 else {
      throw DatabaseError(
        .range, "\(matches.count) columns are named “\(name)”; use positions or AS", sql: sql)
    }
    return index
  }
}
