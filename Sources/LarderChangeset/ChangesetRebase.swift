import Larder

extension Changeset {
  /// Rebases this changeset, which was recorded here, onto others that were recorded elsewhere at the same
  /// time: returns the changes that remain, given the decisions with which those were applied here.
  ///
  /// ```swift
  /// let decisions = try theirs.apply(to: db) { conflict in conflict.found == nil ? .omit : .replace }
  /// let ours = try recorded.rebased(onto: decisions)
  /// ```
  ///
  /// Apply theirs, then `ours`, to a database that has neither, and it ends up in the same state as this one.
  /// Changes that theirs replaced are left out; for a row of theirs that was omitted, the values before the
  /// change become theirs. See [Rebasing changesets](https://www.sqlite.org/session/rebaser.html).
  ///
  /// - Parameter decisions: the decisions, in the order in which the changesets were applied.
  ///
  /// Throws `ResultCode.misuse` for a patch set, `ResultCode.schema` for tables that differ, and
  /// `ResultCode.corrupt` for a malformed changeset or malformed decisions.
  public func rebased(onto decisions: Decisions...) throws -> Changeset {
    var rebase = ChangesetRebase()
    for one in decisions {
      try ChangesetDecoder.forEach(one.data, .decisions) { try rebase.add($0, of: $1) }
    }
    var encoder = ChangesetEncoder()
    try ChangesetDecoder.forEach(data) { change, table in
      guard !table.isPatch else {
        throw DatabaseError(.misuse, "a patch set can't be rebased; record without isPatchset")
      }
      if let change = try rebase.rebased(change, of: table) { encoder.append(change, of: table) }
    }
    return encoder.changeset
  }
}

/// Decisions by the rows' keys, and the rebasing of changes of the same rows onto them.
struct ChangesetRebase {
  /// The merged decisions about one row.
  private struct Decision {
    var isDeletion: Bool
    /// Whether the row was replaced, at least once.
    var isReplaced: Bool
    /// The values that the row was to get, or that it had if the change was a deletion.
    var values: [RecordedValue]
    /// Which columns were replaced.
    var replaced: [Bool]
  }

  private struct Group {
    let table: RecordedTable
    var decisions: [[RecordedValue]: Decision] = [:]
  }

  private var groups: [[UInt8]: Group] = [:]

  /// Adds a decision. In this format an indirect change is one that was replaced.
  mutating func add(_ change: RecordedChange, of table: RecordedTable) throws {
    let name = table.name.foldedName
    let key = table.key(of: change.keyed)
    var group = groups.removeValue(forKey: name) ?? Group(table: table)
    defer { groups[name] = group }
    try check(group.table, table)
    if let earlier = group.decisions[key] {
      group.decisions[key] = merged(earlier, change, of: table)
    } else {
      let isReplaced = change.isIndirect
      group.decisions[key] = Decision(
        isDeletion: change.operation == .delete, isReplaced: isReplaced, values: change.keyed,
        replaced: change.keyed.indices.map {
          isReplaced && !table.isKey($0) && change.keyed[$0].isDefined
        })
    }
  }

  private func merged(
    _ earlier: Decision, _ change: RecordedChange, of table: RecordedTable
  ) -> Decision {
    if earlier.isDeletion, earlier.isReplaced { return earlier }
    var decision = earlier
    decision.isDeletion = change.operation == .delete
    decision.isReplaced = earlier.isReplaced || change.isIndirect
    for (index, value) in change.keyed.enumerated() {
      if change.isIndirect, !table.isKey(index) { decision.replaced[index] = true }
      if value.isDefined { decision.values[index] = value }
    }
    return decision
  }

  private func check(_ one: RecordedTable, _ other: RecordedTable) throws {
    guard one.fits(other) else {
      throw DatabaseError(
        .schema,
        "the changeset and the decisions have different columns, or keys, for the table \(other.name)"
      )
    }
  }

  /// The rebased change; nil if nothing of it remains.
  func rebased(_ change: RecordedChange, of table: RecordedTable) throws -> RecordedChange? {
    guard let group = groups[table.name.foldedName] else { return change }
    try check(group.table, table)
    guard let decision = group.decisions[table.key(of: change.keyed)] else { return change }
    var result = change
    switch (change.operation, decision.isDeletion) {
    case (.insert, true): break
    case (.insert, false):
      if decision.isReplaced { return nil }
      result.operation = .update
      result.old = decision.values
    case (.update, true):
      if decision.isReplaced { return nil }
      result.operation = .insert
      result.old = table.blank
      for (index, value) in decision.values.enumerated() where !result.new[index].isDefined {
        result.new[index] = value
      }
    case (.update, false): return rebased(update: change, onto: decision, of: table)
    case (.delete, true): return nil
    case (.delete, false):
      for (index, value) in decision.values.enumerated()
      where value.isDefined && !decision.replaced[index] { result.old[index] = value }
    }
    return result
  }

  /// The rebased update. Replaced columns are left out; the others' values before the change become those of
  /// their change.
  private func rebased(
    update: RecordedChange, onto decision: Decision, of table: RecordedTable
  ) -> RecordedChange? {
    var update = update
    for index in update.new.indices where !table.isKey(index) {
      if decision.replaced[index] {
        update.old[index] = .undefined
        update.new[index] = .undefined
      } else if decision.values[index].isDefined, update.old[index].isDefined {
        update.old[index] = decision.values[index]
      }
    }
    return update.isEmpty(in: table) ? nil : update
  }
}
