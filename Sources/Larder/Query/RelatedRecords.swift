import LarderSQLite

/// Which records belong to others: what an ``Association`` is apart from its type. A
/// ``RelatedStatement`` finds those of all owners at once.
@_documentation(visibility: internal)
public struct RelatedRecords<Target: Record>: Sendable {
  var query: Query<Target>
  /// How many belong to each owner at most, after leaving out some of each.
  var limit: Int?
  var offset = 0
  let ownerKey: KeyColumn
  /// The column whose values are those of the owners' keys: of the records, or of the table between.
  let column: KeyColumn
  /// Whether that is the key which the owners refer to.
  let isReferredTo: Bool
  let link: Link?

  /// The table between, with its column that refers to the records, and their column.
  struct Link: Sendable {
    let table: QueryTableDefinition
    let foreignKey: KeyColumn
    let key: KeyColumn
  }

  /// Records that are found by a column of their own.
  init(
    _ ownerKey: KeyColumn, _ column: KeyColumn, isReferredTo: Bool, through link: Link? = nil,
    _ query: Query<Target>?
  ) {
    self.ownerKey = ownerKey
    self.column = column
    self.isReferredTo = isReferredTo
    self.link = link
    self.query = query ?? Query(Select(Target.table.core.tables))
  }

  /// The records of all owners. Where no owner has a key, no statement runs.
  func fetch<Owner: Record>(_ db: Database, of owners: [Owner]) throws -> FoundRecords<Target> {
    let statement = try RelatedStatement(self, db)
    let keys = try OwnerKeys(owners, ownerKey, db)
    var found = FoundRecords<Target>(keyCount: keys.values.count)
    for part in keys.parts(db) {
      let isJoined = !statement.isExact(for: keys.values[part])
      try statement.read(keys, part, isJoined: isJoined, db, into: &found)
    }
    found.places = keys.numbers.map { number in number.map { found.places[$0] } ?? [] }
    return found
  }

  /// The statements that find the records of some owners, for SQLite or another engine.
  package func sql<Owner: Record>(
    _ db: Database, of owners: [Owner], in dialect: (any Dialect)? = nil
  ) throws -> [SQL] {
    let statement = try RelatedStatement(self, db)
    let keys = try OwnerKeys(owners, ownerKey, db)
    return keys.parts(db).map {
      let values = keys.values[$0]
      return statement.fragment(values, isJoined: !statement.isExact(for: values)).sql(in: dialect)
    }
  }
}

/// The keys of some records, each once.
struct OwnerKeys {
  /// The keys that aren't NULL.
  private(set) var values: [DatabaseValue] = []
  /// The number of each record's key; nil for NULL.
  private(set) var numbers: [Int?] = []
  /// The numbers of the keys that are equal to one.
  private(set) var equal: [ExactValue: [Int]] = [:]

  init<Owner: Record>(_ owners: [Owner], _ column: KeyColumn, _ db: Database) throws {
    let position = try column.index
    var known: [ExactValue: Int] = [:]
    numbers.reserveCapacity(owners.count)
    for owner in owners {
      let value = try withUnsafePointer(to: owner) {
        try column.table.layout.value(of: position, in: UnsafeRawPointer($0), db.dateFormat)
      }
      if value.isNull {
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

  /// The keys as many at a time as a statement takes: all of them where they are one argument, else a
  /// thousand, which is far from SQLite's limit.
  func parts(_ db: Database) -> [Range<Int>] {
    if values.isEmpty { return [] }
    let list = MemberList(DatabaseValue.self, values, isCoded: false)
    let count =
      list.isOneArgument ? values.count : max(1, min(1_000, db.limit(.variables) / 2))
    return stride(from: 0, to: values.count, by: count).map {
      $0..<min($0 + count, values.count)
    }
  }
}

extension ExactValue {
  /// A key: numbers that are equal are the same, whether they are stored as integers or not.
  init(key value: DatabaseValue) {
    if case .real(let number) = value, let integer = Int64(exactly: number) {
      self.init(.integer(integer))
    } else {
      self.init(value)
    }
  }
}

/// Records of one table, or rows with what belongs to them, and which are whose.
struct FoundRecords<Row> {
  var rows: [Row] = []
  /// The places of each owner's records among the rows; at first, those of each key.
  var places: [[Int]]

  init(keyCount: Int) { places = Array(repeating: [], count: keyCount) }

  init(_ rows: [Row], _ places: [[Int]]) {
    self.rows = rows
    self.places = places
  }

  /// The records of each owner.
  var all: [[Row]] { places.map { $0.map { rows[$0] } } }
  /// The first record of each owner.
  var first: [Row?] { places.map { $0.first.map { rows[$0] } } }
}
