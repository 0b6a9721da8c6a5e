import LarderSQLite

// Places in JSON that are both selected and terms of GROUP BY or ORDER BY. A
// term takes values of another type for NULL, whereas the selected expression
// throws. Engines that want both to be the same expression use the selected one.

extension SQLFragment {
  /// A list of terms, with the selected expression attached to each place in JSON that is selected too.
  func naming(_ columns: SQLFragment) -> SQLFragment {
    guard parts.contains(where: { $0.jsonPlace != nil }) else { return self }
    let selected = columns.strictJSON
    if selected.isEmpty { return self }
    return .list(parts.map { $0.naming(selected) })
  }

  private func naming(_ selected: [SQLFragment]) -> SQLFragment {
    guard let place = jsonPlace else { return self }
    if kind == .unary, let left {
      return SQLFragment(operation, left.naming(selected), isNullable: isNullable)
    }
    let same = selected.first { $0.jsonPlace?.isSame(as: place) ?? false }
    guard let same else { return self }
    return SQLFragment(.form(.jsonSelected, [same], self), isNullable: isNullable)
  }

  /// The places in JSON at which a value of another type throws.
  private var strictJSON: [SQLFragment] {
    var found: [SQLFragment] = []
    var rest = [self]
    while let part = rest.popLast() {
      if case .form(.jsonValue(_, _, isStrict: true), _, _) = part.content { found.append(part) }
      rest += part.innerParts
    }
    return found
  }

  private var jsonPlace: JSONPlace? {
    switch (kind, operation) {
    case (.unary, .ascending), (.unary, .descending), (.unary, .nullsFirst), (.unary, .nullsLast):
      return left?.jsonPlace
    default:
      guard case .form(.jsonValue(let kind, let path, _), let operands, _) = content,
        let column = operands.first?.words
      else { return nil }
      return JSONPlace(column: column, path: path, type: kind.typeName)
    }
  }
}

/// A path in a column, and the type of what is read there.
private struct JSONPlace {
  let column: String
  let path: [JSONPathStep]
  let type: String?

  func isSame(as other: JSONPlace) -> Bool {
    column == other.column && type == other.type && path.count == other.path.count
      && path.begins(with: other.path)
  }
}
