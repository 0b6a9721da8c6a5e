import Larder

extension Changeset {
  /// The combined effect of this changeset and a following one. A row that both change occurs once. Throws
  /// `ResultCode.schema` if the tables differ, `ResultCode.misuse` if only one of the two is a patch set, and
  /// `ResultCode.corrupt` for malformed bytes.
  public func combined(with other: Changeset) throws -> Changeset {
    var combination = ChangesetCombination()
    try ChangesetDecoder.forEach(data) { try combination.add($0, of: $1) }
    try ChangesetDecoder.forEach(other.data) { try combination.add($0, of: $1) }
    return combination.changeset
  }
}

/// Changes merged by row, so that each key occurs once. Tables and rows keep the order of their first
/// occurrence.
struct ChangesetCombination {
  private struct Group {
    let table: RecordedTable
    /// The changes by row; nil if later changes have cancelled a row's earlier ones.
    var changes: [RecordedChange?] = []
    var places: [[RecordedValue]: Int] = [:]
  }

  private var groups: [Group] = []
  private var groupPlaces: [[UInt8]: Int] = [:]
  /// The group of the last change, which is mostly also that of the next one.
  private var last: (name: String, place: Int)?

  var changeset: Changeset {
    var encoder = ChangesetEncoder()
    for group in groups {
      for case let change? in group.changes { encoder.append(change, of: group.table) }
    }
    return encoder.changeset
  }

  mutating func add(_ change: RecordedChange, of table: RecordedTable) throws {
    let place = try group(of: table)
    let key = table.key(of: change.keyed)
    guard let row = groups[place].places[key] else {
      groups[place].places[key] = groups[place].changes.count
      groups[place].changes.append(change)
      return
    }
    if let first = groups[place].changes[row] {
      groups[place].changes[row] = Self.combined(first, change, in: table)
    } else {
      groups[place].changes[row] = change
    }
  }

  private mutating func group(of table: RecordedTable) throws -> Int {
    if let last, last.name == table.name, groups[last.place].table.fits(table) {
      return last.place
    }
    if let first = groups.first?.table, first.isPatch != table.isPatch {
      throw DatabaseError(.misuse, "a changeset and a patch set can't be combined")
    }
    let name = table.name.foldedName
    let place = groupPlaces[name] ?? groups.count
    if place == groups.count {
      groups.append(Group(table: table))
      groupPlaces[name] = place
    }
    guard groups[place].table.fits(table) else {
      throw DatabaseError(
        .schema,
        "the changesets have different columns, or different keys, for the table \(table.name)")
    }
    last = (table.name, place)
    return place
  }

  /// The combined effect of two successive changes of a row; nil if they cancel each other. If the second
  /// can't follow the first, such as an insertion of an existing row, only the first counts.
  private static func combined(
    _ first: RecordedChange, _ second: RecordedChange, in table: RecordedTable
  ) -> RecordedChange? {
    var result = first
    result.isIndirect = first.isIndirect && second.isIndirect
    switch (first.operation, second.operation) {
    case (.insert, .delete): return nil
    case (.insert, .update):
      result.new = merged(second.new, over: first.new)
    case (.update, .update):
      result.old = merged(first.old, over: second.old)
      result.new = merged(second.new, over: first.new)
      if !table.isPatch { return reduced(result, in: table) }
    case (.update, .delete):
      result.operation = .delete
      result.old = table.isPatch ? second.old : merged(first.old, over: second.old)
      result.new = table.blank
    case (.delete, .insert):
      result.operation = .update
      result.new = second.new
      if !table.isPatch { return reduced(result, in: table) }
      for index in table.primaryKey { result.new[index] = .undefined }
    case (.insert, .insert), (.update, .insert), (.delete, .update), (.delete, .delete):
      return first
    }
    return result
  }

  /// The values of a record, with undefined ones filled in from another record.
  private static func merged(
    _ record: [RecordedValue], over other: [RecordedValue]
  ) -> [RecordedValue] {
    record.indices.map { record[$0].isDefined ? record[$0] : other[$0] }
  }

  /// The update without the columns that it leaves unchanged; nil if it changes none.
  private static func reduced(_ update: RecordedChange, in table: RecordedTable) -> RecordedChange?
  {
    var update = update
    var isNeeded = false
    for index in update.new.indices {
      if table.isKey(index) {
        update.new[index] = .undefined
      } else if update.old[index] == update.new[index] {
        update.old[index] = .undefined
        update.new[index] = .undefined
      } else {
        isNeeded = true
      }
    }
    return isNeeded ? update : nil
  }
}
