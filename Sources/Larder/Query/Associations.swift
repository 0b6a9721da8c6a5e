import LarderSQLite

/// What belongs to each of some records: ``BelongsTo``, ``HasMany`` or ``HasManyThrough``.
///
/// ```swift
/// extension Country {
///   static let cities = HasMany(columns.code, City.columns.country)
/// }
/// extension City {
///   static let inCountry = BelongsTo(columns.country, Country.columns.code)
/// }
///
/// let pairs = try Country.all.fetchAll(db, with: Country.cities)       // [(Country, [City])]
/// // SELECT … FROM "country"
/// // SELECT … FROM "city" WHERE "city"."country" IN (SELECT value FROM json_each(?))
/// ```
///
/// All that belongs to all records takes one query, and nothing is loaded later.
public protocol Association<Owner, Related> {
  /// Whose association it is.
  associatedtype Owner: Record
  /// What belongs to one record: an Optional record, or an array of them.
  associatedtype Related

  /// What belongs to each of the records, in their order.
  func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Related]
}

/// The record that others refer to by a foreign key. See ``Association``.
public struct BelongsTo<Owner: Record, Target: Record>: Association, Sendable {
  private let foreignKey: String
  private let key: String
  private let query: Query<Target>

  /// - Parameters:
  ///   - foreignKey: the column that refers to the other record.
  ///   - key: the column of the other record that it refers to, whose values are unique.
  ///   - query: which of the other records count.
  public init<Key>(
    _ foreignKey: Column<Owner, Key>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(foreignKey.name, key.name, query)
  }

  /// The same with a foreign key that may be NULL.
  public init<Key>(
    _ foreignKey: Column<Owner, Key?>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(foreignKey.name, key.name, query)
  }

  private init(_ foreignKey: String, _ key: String, _ query: Query<Target>?) {
    self.foreignKey = foreignKey
    self.key = key
    self.query = query ?? Target.all
  }

  /// The record that each refers to; nil for NULL, and where it isn't there.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Target?] {
    let keys = try owners.map { try Owner.table.core.value(of: foreignKey, in: $0, db) }
    var found: [ExactValue: Target] = [:]
    let column = try MatchedColumn(Target.table.core, key, to: Owner.table.core, foreignKey)
    try query.forEachMatch(db, column, in: keys, alias: \.alias) {
      try Target.table.core.value(of: key, in: $0, db)
    } _: {
      found[$0] = $1
    }
    return keys.map { $0.isNull ? nil : found[ExactValue($0)] }
  }
}

/// The records that refer to others by a foreign key. See ``Association``.
public struct HasMany<Owner: Record, Target: Record>: Association, Sendable {
  private let key: String
  private let foreignKey: String
  private let query: Query<Target>

  /// - Parameters:
  ///   - key: the column that is referred to.
  ///   - foreignKey: the column of the other records that refers to it.
  ///   - query: which of the other records count, and in which order they come.
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(key.name, foreignKey.name, query)
  }

  /// The same with a foreign key that may be NULL.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key?>, in query: Query<Target>? = nil
  ) {
    self.init(key.name, foreignKey.name, query)
  }

  /// The same with a key that SQLite chooses.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key?>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(key.name, foreignKey.name, query)
  }

  private init(_ key: String, _ foreignKey: String, _ query: Query<Target>?) {
    self.key = key
    self.foreignKey = foreignKey
    self.query = query ?? Target.all
  }

  /// The records that refer to each.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [[Target]] {
    let keys = try owners.map { try Owner.table.core.value(of: key, in: $0, db) }
    var found: [ExactValue: [Target]] = [:]
    let column = try MatchedColumn(Target.table.core, foreignKey, to: Owner.table.core, key)
    try query.forEachMatch(db, column, in: keys, alias: \.alias) {
      try Target.table.core.value(of: foreignKey, in: $0, db)
    } _: {
      found[$0, default: []].append($1)
    }
    return keys.map { $0.isNull ? [] : found[ExactValue($0)] ?? [] }
  }
}

/// The records that a third table connects with others. See ``Association``.
///
/// ```swift
/// static let languages = HasManyThrough(
///   columns.code, Spoken.columns.country, Spoken.columns.language, Language.columns.code)
/// ```
public struct HasManyThrough<Owner: Record, Link: Record, Target: Record>: Association, Sendable {
  private let key: String
  private let linkKey: String
  private let query: Query<Join2<Target, Link>>

  /// - Parameters:
  ///   - key: the column that is referred to.
  ///   - linkKey: the column of the table between that refers to it.
  ///   - linkTarget: the column of the table between that refers to the other record.
  ///   - targetKey: the column of the other record that is referred to.
  ///   - query: which of the other records count, and in which order they come.
  public init<OwnerKey, LinkOwnerKey, LinkTargetKey, TargetKey>(
    _ key: Column<Owner, OwnerKey>, _ linkKey: Column<Link, LinkOwnerKey>,
    _ linkTarget: Column<Link, LinkTargetKey>, _ targetKey: Column<Target, TargetKey>,
    in query: Query<Target>? = nil
  ) {
    self.key = key.name
    self.linkKey = linkKey.name
    let (left, right) = (targetKey.name, linkTarget.name)
    self.query = (query ?? Target.all).join(Link.self) {
      SQLExpression<Bool>(SQLFragment($0.alias.column(left), .equal, $1.alias.column(right)))
    }
  }

  /// The records that are connected with each.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [[Target]] {
    let keys = try owners.map { try Owner.table.core.value(of: key, in: $0, db) }
    var found: [ExactValue: [Target]] = [:]
    let column = try MatchedColumn(Link.table.core, linkKey, to: Owner.table.core, key)
    try query.forEachMatch(db, column, in: keys, alias: \.1.alias) {
      try Link.table.core.value(of: linkKey, in: $0.1, db)
    } _: {
      found[$0, default: []].append($1.0)
    }
    return keys.map { $0.isNull ? [] : found[ExactValue($0)] ?? [] }
  }
}

extension Query where From: Record {
  /// All rows, each with what belongs to it, in one query more. See ``Association``.
  public func fetchAll<A: Association>(
    _ db: Database, with association: A
  ) throws -> [(From, A.Related)] where A.Owner == From {
    let rows = try fetchAll(db)
    return Array(zip(rows, try association.fetchAll(db, of: rows)))
  }

  /// All rows, each with what belongs to it by two associations, in two queries more.
  public func fetchAll<A: Association, B: Association>(
    _ db: Database, with first: A, _ second: B
  ) throws -> [(From, A.Related, B.Related)] where A.Owner == From, B.Owner == From {
    let rows = try fetchAll(db)
    let related = zip(
      try first.fetchAll(db, of: rows), try second.fetchAll(db, of: rows))
    return zip(rows, related).map { ($0, $1.0, $1.1) }
  }
}

extension TableCore {
  func index(of column: String) throws -> Int {
    guard let index = columns.firstIndex(where: { $0.name.isSame(as: column) }) else {
      throw RecordError.declaration(table: name, problem: "it has no column “\(column)”")
    }
    return index
  }

  /// A record's value of a column, as it is stored.
  fileprivate func value<R: Record>(
    of column: String, in record: R, _ db: Database
  ) throws -> DatabaseValue {
    let index = try index(of: column)
    return try withUnsafePointer(to: record) {
      try layout.value(of: index, in: UnsafeRawPointer($0), db.dateFormat)
    }
  }
}
