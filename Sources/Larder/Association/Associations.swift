import LarderSQLite

/// The records that belong to other records: ``BelongsTo``, ``HasMany`` or ``HasManyThrough``.
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
/// One statement fetches what belongs to all of the records, and nothing is loaded lazily. Associations can
/// be filtered, ordered, limited for each owner, and nested, each in one statement too:
///
/// ```swift
/// let large = Country.cities.filter { $0.population > 100_000 }.order { $0.name }.limit(3)
/// let trips = try Country.all.fetchAll(db, with: large.with(City.visits))
/// // [(Country, [(City, [Visit])])]
/// ```
///
/// Keys are compared as SQLite's [foreign keys](https://www.sqlite.org/foreignkeys.html) are: by the
/// referenced key's affinity and collation in the database, or by the foreign key's collation if the
/// referenced key's is BINARY. (SQLite doesn't report these for views, whose columns have the collations
/// that the record declares.) Integers and texts are passed in one argument; of other keys, a statement
/// takes a thousand.
public protocol Association<Owner, Related> {
  /// The record that has the association.
  associatedtype Owner: Record
  /// The result for one owner: an Optional record, or an array of records.
  associatedtype Related

  /// The related records of each owner, in the owners' order. Throws ``RecordError`` if the association
  /// names a column that doesn't exist or a record can't be read, and ``LarderSQLite/DatabaseError``.
  func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Related]
}

/// The record that others refer to by a foreign key. See ``Association``.
public struct BelongsTo<Owner: Record, Target: Record>: RecordAssociation {
  /// The related records, as a description of how they are found.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

  /// - Parameters:
  ///   - foreignKey: the column that refers to the other record.
  ///   - key: the column of the other record that it refers to, whose values are unique.
  ///   - query: which of the other records count.
  public init<Key>(
    _ foreignKey: Column<Owner, Key>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(foreignKey, key, isReferredTo: true, query) }

  /// The same with a foreign key that may be NULL.
  public init<Key>(
    _ foreignKey: Column<Owner, Key?>, _ key: Column<Target, Key>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(foreignKey, key, isReferredTo: true, query) }

  /// The same with a key that SQLite chooses.
  @_disfavoredOverload
  public init<Key>(
    _ foreignKey: Column<Owner, Key>, _ key: Column<Target, Key?>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(foreignKey, key, isReferredTo: true, query) }

  /// The record that each owner refers to; nil for NULL, and if there is no such record. Throws as
  /// ``Association/fetchAll(_:of:)`` does.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Target?] {
    try records.fetch(db, of: owners).first
  }
}

/// The records that refer to others by a foreign key. See ``Association``.
public struct HasMany<Owner: Record, Target: Record>: RecordAssociation {
  /// The related records, as a description of how they are found.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

  /// - Parameters:
  ///   - key: the column that is referred to.
  ///   - foreignKey: the column of the other records that refers to it.
  ///   - query: which of the other records count, and in which order they come.
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(key, foreignKey, isReferredTo: false, query) }

  /// The same with a foreign key that may be NULL.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key>, _ foreignKey: Column<Target, Key?>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(key, foreignKey, isReferredTo: false, query) }

  /// The same with a key that SQLite chooses.
  @_disfavoredOverload
  public init<Key>(
    _ key: Column<Owner, Key?>, _ foreignKey: Column<Target, Key>, in query: Query<Target>? = nil
  ) { records = RelatedRecords(key, foreignKey, isReferredTo: false, query) }

  /// The records that refer to each owner. Throws as ``Association/fetchAll(_:of:)`` does.
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
  /// The related records, as a description of how they are found.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>

  /// - Parameters:
  ///   - key: the column that is referred to.
  ///   - linkKey: the linking table's column that refers to it.
  ///   - linkTarget: the linking table's column that refers to the other record.
  ///   - targetKey: the column of the other record that is referred to.
  ///   - query: which of the other records count, and in which order they come.
  public init<OwnerKey, LinkOwnerKey, LinkTargetKey, TargetKey>(
    _ key: Column<Owner, OwnerKey>, _ linkKey: Column<Link, LinkOwnerKey>,
    _ linkTarget: Column<Link, LinkTargetKey>, _ targetKey: Column<Target, TargetKey>,
    in query: Query<Target>? = nil
  ) {
    let link = RelatedRecords<Target>.Link(
      table: Link.tableDefinition, foreignKey: KeyColumn(linkTarget), key: KeyColumn(targetKey))
    records = RelatedRecords(key, linkKey, isReferredTo: false, through: link, query)
  }

  /// The records that are connected with each owner. Throws as ``Association/fetchAll(_:of:)`` does.
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [[Target]] {
    try records.fetch(db, of: owners).all
  }
}

extension Query where From: Record {
  /// All rows, each with its related records, which one more statement fetches. See ``Association``. Throws
  /// as ``fetchAll(_:)`` and ``Association/fetchAll(_:of:)`` do.
  public func fetchAll<A: Association>(
    _ db: Database, with association: A
  ) throws -> [(From, A.Related)] where A.Owner == From {
    try association.pairs(db, of: fetchAll(db))
  }

  /// All rows, each with its related records of two associations, which two more statements fetch. Throws
  /// as ``fetchAll(_:)`` and ``Association/fetchAll(_:of:)`` do.
  public func fetchAll<A: Association, B: Association>(
    _ db: Database, with first: A, _ second: B
  ) throws -> [(From, A.Related, B.Related)] where A.Owner == From, B.Owner == From {
    try first.triples(second, db, of: fetchAll(db))
  }
}
