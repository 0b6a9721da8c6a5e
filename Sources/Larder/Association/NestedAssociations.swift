import LarderSQLite

// Associations within associations, and associations that are filtered, ordered or limited.

/// An association whose records a query finds: ``BelongsTo``, ``HasMany`` or ``HasManyThrough``.
@_documentation(visibility: internal)
public protocol RecordAssociation<Owner, Target>: Association, Sendable {
  /// The type of the related records.
  associatedtype Target: Record
  /// The related records, as a description of how they are found.
  var records: RelatedRecords<Target> { get set }
}

extension RecordAssociation {
  private func with(_ change: (inout RelatedRecords<Target>) -> Void) -> Self {
    var association = self
    change(&association.records)
    return association
  }

  /// Keeps only records that satisfy the condition, in addition to any earlier ones.
  public func filter(@SQLCondition _ condition: (RecordFields<Target>) -> SQLExpression<Bool>)
    -> Self
  {
    with { $0.query = $0.query.filter(condition) }
  }

  /// Orders the records by an expression, a term, or several of them in parentheses. Earlier terms take
  /// precedence.
  public func order<Terms: OrderTerms>(
    @SQLOrder _ terms: (RecordFields<Target>) -> Terms
  ) -> Self {
    with { $0.query = $0.query.order(terms) }
  }
}

extension RecordAssociation where Related: Collection {
  /// At most `count` records of each owner, after skipping `offset` of each. A negative number counts as
  /// zero. Records are counted in the association's order, for all owners by one statement.
  ///
  /// ```swift
  /// Country.all.fetchAll(db, with: Country.cities.order { $0.population.desc }.limit(3))
  /// // WITH "larder_row"("c1", …, "number") AS (SELECT …, row_number() OVER
  /// // (PARTITION BY "city"."country" ORDER BY "city"."population" DESC) FROM "city" WHERE …)
  /// // SELECT * FROM "larder_row" WHERE "number" <= ? ORDER BY "number"
  /// ```
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    with {
      $0.limit = max(0, count)
      $0.offset = max(0, offset)
    }
  }
}

extension RecordAssociation where Related == [Target] {
  /// The same records, each with its own related records. See ``Association``.
  public func with<A: Association & Sendable>(
    _ nested: A
  ) -> NestedAssociation<Owner, Target, [(Target, A.Related)]> where A.Owner == Target {
    NestedAssociation(records: records) { try $0.with(nested, $1).all }
  }

  /// The same records, each with its own related records of two associations.
  public func with<A: Association & Sendable, B: Association & Sendable>(
    _ first: A, _ second: B
  ) -> NestedAssociation<Owner, Target, [(Target, A.Related, B.Related)]>
  where A.Owner == Target, B.Owner == Target {
    NestedAssociation(records: records) { try $0.with(first, second, $1).all }
  }
}

extension RecordAssociation where Related == Target? {
  /// The same record with its own related records. See ``Association``.
  public func with<A: Association & Sendable>(
    _ nested: A
  ) -> NestedAssociation<Owner, Target, (Target, A.Related)?> where A.Owner == Target {
    NestedAssociation(records: records) { try $0.with(nested, $1).first }
  }

  /// The same record with its own related records of two associations.
  public func with<A: Association & Sendable, B: Association & Sendable>(
    _ first: A, _ second: B
  ) -> NestedAssociation<Owner, Target, (Target, A.Related, B.Related)?>
  where A.Owner == Target, B.Owner == Target {
    NestedAssociation(records: records) { try $0.with(first, second, $1).first }
  }
}

/// An association whose records come with their own related records: the result of `with`.
@_documentation(visibility: internal)
public struct NestedAssociation<Owner: Record, Target: Record, Related>: RecordAssociation {
  /// The related records, as a description of how they are found.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>
  fileprivate let nest: @Sendable (FoundRecords<Target>, Database) throws -> [Related]

  /// The related records of each owner, in the owners' order. Throws as ``Association/fetchAll(_:of:)`` does.
  @_documentation(visibility: internal)
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Related] {
    try nest(records.fetch(db, of: owners), db)
  }
}

extension FoundRecords where Row: Record {
  fileprivate func with<A: Association>(
    _ association: A, _ db: Database
  ) throws -> FoundRecords<(Row, A.Related)> where A.Owner == Row {
    FoundRecords<(Row, A.Related)>(rows: try association.pairs(db, of: rows), places: places)
  }

  fileprivate func with<A: Association, B: Association>(
    _ first: A, _ second: B, _ db: Database
  ) throws -> FoundRecords<(Row, A.Related, B.Related)> where A.Owner == Row, B.Owner == Row {
    FoundRecords<(Row, A.Related, B.Related)>(
      rows: try first.triples(second, db, of: rows), places: places)
  }
}

extension Association {
  func pairs(_ db: Database, of owners: [Owner]) throws -> [(Owner, Related)] {
    Array(zip(owners, try related(db, to: owners)))
  }

  func triples<Other: Association>(
    _ other: Other, _ db: Database, of owners: [Owner]
  ) throws -> [(Owner, Related, Other.Related)] where Other.Owner == Owner {
    let others = try other.related(db, to: owners)
    return zip(try pairs(db, of: owners), others).map { ($0.0, $0.1, $1) }
  }

  private func related(_ db: Database, to owners: [Owner]) throws -> [Related] {
    let related = try fetchAll(db, of: owners)
    guard related.count == owners.count else {
      throw DatabaseError(
        .misuse, "an association returned \(related.count) results for \(owners.count) owners")
    }
    return related
  }
}
