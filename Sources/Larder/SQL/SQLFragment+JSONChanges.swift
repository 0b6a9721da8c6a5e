import LarderSQLite

// Changes of JSON. All changes that one update makes in a column become one call: nested calls would be as
// deep as there are changes, and each change that reads the column would repeat all before it.

extension SQLFragment {
  /// JSON with a change at a path: a value, or nothing for a removal.
  static func changedJSON(
    _ document: SQLFragment, _ kind: JSONPathChange.Kind, _ path: [JSONPathStep],
    _ value: SQLFragment = "NULL"
  ) -> SQLFragment {
    var changes = document.jsonChanges ?? JSONChangeList(document: document)
    // A value that is set again at once replaces the first one.
    if kind == .set, let last = changes.list.last, last.change.kind == .set,
      last.change.path.count == path.count, last.change.path.begins(with: path)
    {
      changes.list.removeLast()
    }
    changes.list.append((JSONPathChange(kind: kind, path: path), value))
    return changes.fragment(coding: document.coding)
  }

  /// The document and its changes; nil for any other fragment.
  fileprivate var jsonChanges: JSONChangeList? {
    if kind == .unary, operation == .parentheses { return left?.jsonChanges }
    guard case .form(.jsonChange(let changes), let operands, _) = content else { return nil }
    return JSONChangeList(
      document: operands[0], list: Array(zip(changes, operands.dropFirst())))
  }

  /// JSON in which a path leads to the same value as in this fragment, and the path in it. A place that the
  /// update sets is found in the new value, and one that the update doesn't touch in the column.
  final func jsonSource(of path: [JSONPathStep]) -> (SQLFragment, [JSONPathStep]) {
    guard var changes = jsonChanges else { return (self, path) }
    let moves = changes.list.contains { $0.change.moves }
    var kept: [(change: JSONPathChange, value: SQLFragment)] = []
    for (change, value) in changes.list.reversed() {
      if kept.isEmpty, change.kind == .set, path.begins(with: change.path) {
        return value.jsonSource(of: Array(path.dropFirst(change.path.count)))
      }
      // A change also stays if it decides what the path, or a change that stays, finds.
      let paths = [path] + kept.map(\.change.path)
      if !paths.allSatisfy({ change.path.isApart(from: $0, moves: moves) }) {
        kept.append((change, value))
      }
    }
    changes.list = kept.reversed()
    return (changes.fragment(coding: coding), path)
  }
}

/// A document, and changes of it, one after the other.
private struct JSONChangeList {
  /// How many changes fit in a call, of which each is two of at most
  /// [127 arguments](https://www.sqlite.org/limits.html#max_function_arg).
  private static let countInCall = 60

  let document: SQLFragment
  var list: [(change: JSONPathChange, value: SQLFragment)] = []

  func fragment(coding: ExpressionCoding?) -> SQLFragment {
    guard !list.isEmpty else { return document }
    var call = document.parenthesized(in: .lowest)
    for start in stride(from: 0, to: list.count, by: Self.countInCall) {
      var arguments = [call]
      for (change, value) in list[start..<min(start + Self.countInCall, list.count)] {
        let path = (change.kind == .insert ? "?" : "") + change.path.json
        arguments += [SQLFragment(text: path.quotedText), value.parenthesized(in: .lowest)]
      }
      call = SQLFragment(.call("larder_json_set", arguments))
    }
    return SQLFragment(
      .form(.jsonChange(list.map(\.change)), [document] + list.map(\.value), call),
      isNullable: document.isNullable && list.allSatisfy { $0.change.kind == .remove },
      coding: coding)
  }
}
