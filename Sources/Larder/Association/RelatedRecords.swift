import LarderSQLite

/// An ``Association`` apart from its type: which records belong to others. A
/// ``RelatedStatement`` finds those of all owners at once.
@_documentation(visibility: internal)
public struct RelatedRecords<Target: Record>: Sendable {
  var query: Query<Target>
  /// The most records of each owner, after skipping `offset` of each; nil for all.
  var limit: Int?
  var offset = 0
  let ownerKey: KeyColumn
  /// The column that holds the owners' keys: of the records' table, or of the linking table.
  let column: KeyColumn
  /// Whether `column` is the key that the owners refer to (``BelongsTo``).
  let isReferredTo: Bool
  let link: Link?

  /// The linking table, its column that refers to the records, and the records' key.
  struct Link: Sendable {
    let table: QueryTableDefinition
    let foreignKey: KeyColumn
    let key: KeyColumn
  }

  init<Owner: Record, OwnerKey, Other: Record, Key>(
    _ ownerKey: Column<Owner, OwnerKey>, _ column: Column<Other, Key>, isReferredTo: Bool,
    through link: Link? = nil, _ query: Query<Target>?
  ) {
    self.ownerKey = KeyColumn(ownerKey)
    self.column = KeyColumn(column)
    self.isReferredTo = isReferredTo
    self.link = link
    self.query = query ?? Query(Select(Target.table.core.tables))
  }

  /// Fetches the records of all owners. If no owner has a key, no statement runs.
  func fetch<Owner: Record>(_ db: Database, of owners: [Owner]) throws -> FoundRecords<Target> {
    let (statement, keys) = (try RelatedStatement(self, db), try OwnerKeys(owners, ownerKey, db))
    var found = FoundRecords<Target>(places: Array(repeating: [], count: keys.values.count))
    for part in keys.parts(db) {
      let isJoined = !statement.comparison.isExact(for: keys.values[part])
      try statement.read(keys, part, isJoined: isJoined, db, into: &found)
    }
    found.places = keys.numbers.map { number in number.map { found.places[$0] } ?? [] }
    return found
  }

  /// The statements that find the records of some owners, for SQLite or another engine.
  package func sql<Owner: Record>(
    _ db: Database, of owners: [Owner], in dialect: (any Dialect)? = nil
  ) throws -> [SQL] {
    let (statement, keys) = (try RelatedStatement(self, db), try OwnerKeys(owners, ownerKey, db))
    return keys.parts(db).map {
      let values = keys.values[$0]
      let isJoined = !statement.comparison.isExact(for: values)
      return statement.fragment(values, isJoined: isJoined).sql(in: dialect)
    }
  }
}

/// The distinct keys of some records.
struct OwnerKeys {
  /// The distinct keys that aren't NULL.
  private(set) var values: [DatabaseValue] = []
  /// For each record, the index of its key in `values`; nil for NULL.
  private(set) var numbers: [Int?] = []
  /// The indexes in `values` of all keys that are equal to a key.
  private(set) var equal: [ExactValue: [Int]] = [:]

  init<Owner: Record>(_ owners: [Owner], _ column: KeyColumn, _ db: Database) throws {
    let position = try column.index
    var known: [ExactValue: Int] = [:]
    numbers.reserveCapacity(owners.count)
    for owner in owners {
      let value = try withUnsafePointer(to: owner) {
        try column.table.layout.value(of: position, in: UnsafeRawPointer($0), db.dateFormat)
      }
      guard !value.isNull else {
        numbers.append(nil)
        continue
      }
      let number = known[ExactValue(value)] ?? values.count
      if number == values.count {
        known[ExactValue(value)] = number
        equal[ExactValue(key: value), default: []].append(number)
        values.append(value)
      }
      numbers.append(number)
    }
  }

  /// The keys in parts, one for each statement: all of them if they fit into one argument, or else a
  /// thousand at a time, which is far below SQLite's limit.
  func parts(_ db: Database) -> [Range<Int>] {
    if values.isEmpty { return [] }
    let list = MemberList(DatabaseValue.self, values, isCoded: false)
    let count = list.isOneArgument ? values.count : max(1, min(1_000, db.limit(.variables) / 2))
    return stride(from: 0, to: values.count, by: count).map { $0..<min($0 + count, values.count) }
  }
}

extension ExactValue {
  /// Makes a key. Numbers that are equal become the same key, whether they are stored as integers or not.
  init(key value: DatabaseValue) {
    if case .real(let number) = value, let integer = Int64(exactly: number) {
      self.init(.integer(integer))
    } else {
      self.init(value)
    }
  }
}

/// The rows that were found, and which of them belong to which owner.
struct FoundRecords<Row> {
  var rows: [Row] = []
  /// The indexes in `rows` of each owner's records; while rows are read, of each key's records.
  var places: [[Int]]

  var all: [[Row]] { places.map { $0.map { rows[$0] } } }
  var first: [Row?] { places.map { $0.first.map { rows[$0] } } }
}
