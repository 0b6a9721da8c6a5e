import LarderSQLite

// Places in JSON that are selected and are terms of GROUP BY or ORDER BY. The terms take values of another type for NULL,
// where what is selected throws; engines that want both to be the same expression take what is selected.

extension SQLFragment {
  /// A list of terms, each place in JSON of which knows what is selected of it.
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

  /// The places in JSON whose values throw where they are of another type.
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
