import LarderSQLite

/// What belongs to each of some records: ``BelongsTo``, ``HasMany`` or ``HasManyThrough``.
///
/// ```swift
/// extension Country {
///   static let cities = HasMany(columns.code, City.columns.country)
/// }
/// extension City {
///   static let inCountry = BelongsTo(columns.country, Country.columns.code)
///   static let visits = HasMany(columns.id, Visit.columns.city)
/// }
///
/// let pairs = try Country.all.fetchAll(db, with: Country.cities)       // [(Country, [City])]
/// // SELECT … FROM "country"
/// // SELECT … FROM "city" WHERE "city"."country" IN (SELECT value FROM json_each(?))
/// ```
///
/// All that belongs to all records takes one statement, and nothing is loaded later. Associations can be
/// narrowed, ordered, limited for each owner, and nested, each in one statement too:
///
/// ```swift
/// let large = Country.cities.filter { $0.population > 100_000 }.order { $0.name }.limit(3)
/// let trips = try Country.all.fetchAll(db, with: large.with(City.visits))
/// // [(Country, [(City, [Visit])])]
/// ```
///
/// Keys are compared as SQLite's [foreign keys](https://www.sqlite.org/foreignkeys.html) are, by the
/// collation and the affinity that the key which is referred to has in the database; where its collation is
/// BINARY, by that of the foreign key. (Of views SQLite doesn't tell them; their columns have those that
/// the record declares.) Integers and texts are passed in one argument, of other keys a statement takes a
/// thousand.
public protocol Association<Owner, Related> {
  /// Whose association it is.
  associatedtype Owner: Record
  /// What belongs to one record: an Optional record, or an array of them.
  associatedtype Related

  /// What belongs to each of the records, in their order. Throws ``RecordError`` where the association
  /// names a column that isn't there, or a record can't be read, and ``LarderSQLite/DatabaseError``.
  func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Related]
}

/// The record that others refer to by a foreign key. See ``Association``.
public struct BelongsTo<Owner: Record, Target: Record>: RecordAssociation {
  /// The records.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

  /// - Parameters:
  ///   - foreignKey: the column that refers to the other record.
  ///   - key: the column of the other record that it refers to, whose values are unique.
  ///   - query: which of the other records count.
  public init<Key>(
    _ foreignKey: Column<Owner, Key>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(foreignKey), KeyColumn(key), query)
  }

  /// The same with a foreign key that may be NULL.
  public init<Key>(
    _ foreignKey: Column<Owner, Key?>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(foreignKey), KeyColumn(key), query)
  }

  /// The same with a key that SQLite chooses.
  @_disfavoredOverload
  public init<Key>(
    _ foreignKey: Column<Owner, Key>, _ key: Column<Target, Key?>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(foreignKey), KeyColumn(key), query)
  }

  private init(_ foreignKey: KeyColumn, _ key: KeyColumn, _ query: Query<Target>?) {
    records = RelatedRecords(foreignKey, key, isReferredTo: true, query)
  }

  /// The record that each refers to; nil for NULL, and where it isn't there. Throws as
  /// ``Association/fetchAll(_:of:)`` does.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Target?] {
    try records.fetch(db, of: owners).first
  }
}

/// The records that refer to others by a foreign key. See ``Association``.
public struct HasMany<Owner: Record, Target: Record>: RecordAssociation {
  /// The records.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

  /// - Parameters:
  ///   - key: the column that is referred to.
  ///   - foreignKey: the column of the other records that refers to it.
  ///   - query: which of the other records count, and in which order they come.
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(key), KeyColumn(foreignKey), query)
  }

  /// The same with a foreign key that may be NULL.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key?>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(key), KeyColumn(foreignKey), query)
  }

  /// The same with a key that SQLite chooses.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key?>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) {
    self.init(KeyColumn(key), KeyColumn(foreignKey), query)
  }

  private init(_ key: KeyColumn, _ foreignKey: KeyColumn, _ query: Query<Target>?) {
    records = RelatedRecords(key, foreignKey, isReferredTo: false, query)
  }

  /// The records that refer to each. Throws as ``Association/fetchAll(_:of:)`` does.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [[Target]] {
    try records.fetch(db, of: owners).all
  }
}

/// The records that a third table connects with others. See ``Association``.
///
/// ```swift
/// static let languages = HasManyThrough(
///   columns.code, Spoken.columns.country, Spoken.columns.language, Language.columns.code)
/// ```
public struct HasManyThrough<Owner: Record, Link: Record, Target: Record>: RecordAssociation {
  /// The records.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

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
    records = RelatedRecords(
      KeyColumn(key), KeyColumn(linkKey), isReferredTo: false,
      through: .init(
        table: Link.tableDefinition, foreignKey: KeyColumn(linkTarget), key: KeyColumn(targetKey)),
      query)
  }

  /// The records that are connected with each. Throws as ``Association/fetchAll(_:of:)`` does.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [[Target]] {
    try records.fetch(db, of: owners).all
  }
}

extension Query where From: Record {
  /// All rows, each with what belongs to it, in one query more. See ``Association``. Throws as
  /// ``fetchAll(_:)`` and ``Association/fetchAll(_:of:)`` do.
  public func fetchAll<A: Association>(
    _ db: Database, with association: A
  ) throws -> [(From, A.Related)] where A.Owner == From {
    try association.pairs(db, of: fetchAll(db))
  }

  /// All rows, each with what belongs to it by two associations, in two queries more. Throws as
  /// ``fetchAll(_:)`` and ``Association/fetchAll(_:of:)`` do.
  public func fetchAll<A: Association, B: Association>(
    _ db: Database, with first: A, _ second: B
  ) throws -> [(From, A.Related, B.Related)] where A.Owner == From, B.Owner == From {
    try first.triples(second, db, of: fetchAll(db))
  }
}
