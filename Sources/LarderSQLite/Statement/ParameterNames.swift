/// The names of a statement's parameters, resolved to positions once per statement.
struct ParameterNames {
  /// The names by position from 0, with their prefixes; nil for an anonymous `?`.
  private let names: [String?]
  /// The names of the last arguments and their positions: the next ones are mostly the same.
  private var last = Layout()

  private struct Layout {
    var names: [String] = []
    var allowsSurplus = false
    var anonymousCount = 0
    var positions: [[Int32]] = []
    /// The positions, if each name has exactly one.
    var single: [Int32]?
  }

  init(_ names: [String?]) { self.names = names }

  /// Binds named arguments, and interpolated values to the anonymous parameters in order.
  mutating func bind(
    named arguments: Arguments, anonymous values: [(any DatabaseValueConvertible)?],
    in arena: BindingArena
  ) throws {
    guard let pairs = arguments.pairs else {
      throw DatabaseError(
        .range, "SQL with interpolated values takes named arguments only, not positional ones too")
    }
    if !isLast(pairs, arguments.allowsSurplus, values.count) {
      last = try layout(pairs.map(\.name), arguments.allowsSurplus, values.count)
    }
    if let positions = last.single {
      try arena.bind(pairs, at: positions)
    } else {
      for (pair, positions) in zip(pairs, last.positions) {
        for position in positions { try arena.bind(pair.value, at: position) }
      }
    }
    guard !values.isEmpty else { return }
    let anonymous = names.indices.filter { names[$0] == nil }
    for (value, index) in zip(values, anonymous) {
      try arena.bind(value, at: Int32(truncatingIfNeeded: index + 1))
    }
  }

  private func isLast(
    _ pairs: [Arguments.Pair], _ allowsSurplus: Bool, _ anonymousCount: Int
  ) -> Bool {
    guard pairs.count == last.names.count, pairs.count > 0, allowsSurplus == last.allowsSurplus,
      anonymousCount == last.anonymousCount
    else { return false }
    for index in pairs.indices where !pairs[index].name.isSame(as: last.names[index]) {
      return false
    }
    return true
  }

  /// Finds the positions, from 1, of each name. Throws for names that are missing, given twice, or (unless
  /// allowed) not in the statement.
  private func layout(
    _ given: [String], _ allowsSurplus: Bool, _ anonymousCount: Int
  ) throws -> Layout {
    guard Set(given.map { Array($0.utf8) }).count == given.count else {
      throw DatabaseError(.range, "an argument is given twice under the same name")
    }
    let positions = given.map { name in
      names.indices.filter { index in
        names[index].map { own in
          own.isSame(as: name) || own.utf8.dropFirst().elementsEqual(name.utf8)
        } ?? false
      }.map { Int32(truncatingIfNeeded: $0 + 1) }
    }
    let surplus = zip(given, positions).filter { $1.isEmpty }.map(\.0)
    let bound = Set(positions.joined())
    guard bound.count == positions.joined().count else {
      throw DatabaseError(.range, "an argument is given twice, with and without its prefix")
    }
    let missing = names.indices.filter { names[$0] != nil && !bound.contains(Int32($0 + 1)) }
    let anonymous = names.count { $0 == nil }
    guard missing.isEmpty, anonymous == anonymousCount, allowsSurplus || surplus.isEmpty else {
      var parts = [
        "the statement has \(names.count) parameters, but \(given.count + anonymousCount) were given"
      ]
      if !missing.isEmpty {
        parts.append("missing: " + missing.compactMap { names[$0] }.joined(separator: ", "))
      }
      if anonymous != anonymousCount {
        parts.append("parameters without a name: \(anonymous), values for them: \(anonymousCount)")
      }
      if !surplus.isEmpty {
        parts.append("not in the statement: " + surplus.joined(separator: ", "))
      }
      throw DatabaseError(.range, parts.joined(separator: "; "))
    }
    let single = positions.compactMap { $0.count == 1 ? $0.first : nil }
    return Layout(
      names: given, allowsSurplus: allowsSurplus, anonymousCount: anonymousCount,
      positions: positions, single: single.count == positions.count ? single : nil)
  }

  func countError(given: Int) -> DatabaseError {
    var text = "the statement has \(names.count) parameters, but \(given) were given"
    let missing = names.dropFirst(given).compactMap { $0 }
    if !missing.isEmpty { text += "; missing: \(missing.joined(separator: ", "))" }
    return DatabaseError(.range, text)
  }
}
