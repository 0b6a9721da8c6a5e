/// A type whose values are rows of a table.
///
/// ```swift
/// struct City: Record {
///   var id: Int64?
///   var name: String
///   var population: Int
///
///   struct Columns: Sendable {
///     let id = Column("id", \City.id, .primaryKey)
///     let name = Column("name", \City.name)
///     let population = Column("population", \City.population, .indexed)
///   }
///   static let columns = Columns()
///   static let table = Table("city", City.init, columns.id, columns.name, columns.population)
/// }
///
/// try queue.inTransaction { db in
///   try City.table.create(db)
///   var city = City(id: nil, name: "Oslo", population: 709_037)
///   try city.insert(db)                  // INSERT INTO "city" ("id", "name", "population") VALUES …
///   city.population += 1
///   try city.update(db)                  // UPDATE "city" SET … WHERE "id" = :id
///   let same = try City.find(db, city.id)
/// }
/// ```
///
/// Everything that is said of the table is said once, in `columns` and `table`; the SQL is made of
/// it once, and each connection compiles it once. `columns` and `table` have to be `static let`.
///
/// All operations throw ``LarderSQLite/DatabaseError`` for what SQLite reports, among it broken
/// constraints, and ``RecordError`` for rows that aren't there, that somebody else has changed, or
/// that don't fit the type.
public protocol Record: Sendable, QuerySource
where QueryFields == RecordFields<Self>, QueryRow == Self {
  /// A structure with the table's columns.
  associatedtype Columns: Sendable
  /// The table's columns, for the table and for queries.
  static var columns: Columns { get }
  /// The table, with the columns in the order of the parameters of an initializer.
  static var table: Table<Self> { get }
}

/// What a record does before it is written and after it is read, each of which can refuse by
/// throwing. Records that don't adopt it pay nothing.
///
/// An operation with its hooks is one transaction, or a savepoint inside of one: what a hook has
/// written is undone if the operation fails. An update of named columns writes these only, also
/// where a hook has changed others.
///
/// ```swift
/// extension City: RecordHooks {
///   func validate() throws {
///     if population < 0 { throw InvalidCity.negativePopulation }
///   }
/// }
/// ```
public protocol RecordHooks: Record {
  /// Looks at a record that is about to be inserted or updated, after the hooks below.
  func validate() throws
  /// Called before a record is inserted, also by an upsert.
  mutating func willInsert(_ db: Database) throws
  /// Called before a record is updated.
  mutating func willUpdate(_ db: Database) throws
  /// Called before a record is deleted; not where a query deletes many.
  func willDelete(_ db: Database) throws
  /// Called for each record that was read.
  mutating func didFetch() throws
}

extension RecordHooks {
  /// Does nothing.
  public func validate() throws {}
  /// Does nothing.
  public mutating func willInsert(_ db: Database) throws {}
  /// Does nothing.
  public mutating func willUpdate(_ db: Database) throws {}
  /// Does nothing.
  public func willDelete(_ db: Database) throws {}
  /// Does nothing.
  public mutating func didFetch() throws {}
}

/// The hooks of a record type that has some, found once for its table.
@usableFromInline
final class HookCalls<R: Record>: Sendable {
  private let insert: @Sendable (inout R, Database) throws -> Void
  private let update: @Sendable (inout R, Database) throws -> Void
  private let delete: @Sendable (R, Database) throws -> Void
  private let fetch: @Sendable (inout R) throws -> Void

  /// Nil for a type without hooks.
  static func ofType() -> HookCalls? {
    guard let type = R.self as? any RecordHooks.Type else { return nil }
    return make(type) as? HookCalls
  }

  private static func make<H: RecordHooks>(_ type: H.Type) -> Any { HookCalls<H>() }

  private init() where R: RecordHooks {
    insert = {
      try $0.willInsert($1)
      try $0.validate()
    }
    update = {
      try $0.willUpdate($1)
      try $0.validate()
    }
    delete = { try $0.willDelete($1) }
    fetch = { try $0.didFetch() }
  }

  @usableFromInline
  func willInsert(_ record: inout R, _ db: Database) throws { try insert(&record, db) }

  @usableFromInline
  func willUpdate(_ record: inout R, _ db: Database) throws { try update(&record, db) }

  func willDelete(_ record: R, _ db: Database) throws { try delete(record, db) }

  /// What reads a record and calls the hook.
  func afterFetching(
    _ read: @escaping @Sendable (RecordRow) throws -> R
  ) -> @Sendable (RecordRow) throws -> R {
    { [fetch] row in
      var record = try read(row)
      try fetch(&record)
      return record
    }
  }
}
