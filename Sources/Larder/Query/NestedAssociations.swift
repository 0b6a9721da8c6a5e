import LarderSQLite

// Associations within associations, and associations that are narrowed, ordered or limited.

/// An association whose records a query finds: ``BelongsTo``, ``HasMany`` or ``HasManyThrough``.
@_documentation(visibility: internal)
public protocol RecordAssociation<Owner, Target>: Association, Sendable {
  /// What its records are.
  associatedtype Target: Record
  /// The records.
  var records: RelatedRecords<Target> { get set }
}

extension RecordAssociation {
  private func with(_ change: (inout RelatedRecords<Target>) -> Void) -> Self {
    var association = self
    change(&association.records)
    return association
  }

  /// Only records for which a condition holds, besides those that were named before.
  public func filter(@SQLCondition _ condition: (RecordFields<Target>) -> SQLExpression<Bool>)
    -> Self
  {
    with { $0.query = $0.query.filter(condition) }
  }

  /// In the order of an expression, where the terms that were named before are equal.
  public func order<Value>(_ term: (RecordFields<Target>) -> SQLExpression<Value>) -> Self {
    with { $0.query = $0.query.order(term) }
  }

  /// In the order of a term, where those that were named before are equal.
  public func order(_ term: (RecordFields<Target>) -> OrderingTerm) -> Self {
    with { $0.query = $0.query.order(term) }
  }

  /// In the order of several terms, where those that were named before are equal.
  public func order(_ terms: (RecordFields<Target>) -> [OrderingTerm]) -> Self {
    with { $0.query = $0.query.order(terms) }
  }

  /// In the order of several terms or expressions, where those that were named before are equal.
  public func order<each Term: OrderTerm>(
    _ terms: (RecordFields<Target>) -> (repeat each Term)
  ) -> Self {
    with { $0.query = $0.query.order(terms) }
  }
}

extension RecordAssociation where Related: Collection {
  /// No more records of each owner than this, after leaving out some of each. A negative number counts as
  /// zero. They are counted in the association's order, for all owners by one statement.
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
  /// The same records, each with what belongs to it in turn. See ``Association``.
  public func with<A: Association & Sendable>(
    _ nested: A
  ) -> NestedAssociation<Owner, Target, [(Target, A.Related)]> where A.Owner == Target {
    NestedAssociation(records) { try $0.fetch($1, of: $2).with(nested, $1).all }
  }

  /// The same records, each with what belongs to it by two associations.
  public func with<A: Association & Sendable, B: Association & Sendable>(
    _ first: A, _ second: B
  ) -> NestedAssociation<Owner, Target, [(Target, A.Related, B.Related)]>
  where A.Owner == Target, B.Owner == Target {
    NestedAssociation(records) { try $0.fetch($1, of: $2).with(first, second, $1).all }
  }
}

extension RecordAssociation where Related == Target? {
  /// The same record with what belongs to it in turn. See ``Association``.
  public func with<A: Association & Sendable>(
    _ nested: A
  ) -> NestedAssociation<Owner, Target, (Target, A.Related)?> where A.Owner == Target {
    NestedAssociation(records) { try $0.fetch($1, of: $2).with(nested, $1).first }
  }

  /// The same record with what belongs to it by two associations.
  public func with<A: Association & Sendable, B: Association & Sendable>(
    _ first: A, _ second: B
  ) -> NestedAssociation<Owner, Target, (Target, A.Related, B.Related)?>
  where A.Owner == Target, B.Owner == Target {
    NestedAssociation(records) { try $0.fetch($1, of: $2).with(first, second, $1).first }
  }
}

/// An association whose records come with what belongs to them in turn: what `with` makes.
@_documentation(visibility: internal)
public struct NestedAssociation<Owner: Record, Target: Record, Related>: RecordAssociation {
  /// The records.
  @_documentation(visibility: internal)
  public var records: RelatedRecords<Target>
  private let fetch: @Sendable (RelatedRecords<Target>, Database, [Owner]) throws -> [Related]

  fileprivate init(
    _ records: RelatedRecords<Target>,
    _ fetch: @escaping @Sendable (RelatedRecords<Target>, Database, [Owner]) throws -> [Related]
  ) {
    self.records = records
    self.fetch = fetch
  }

  /// What belongs to each of the records, in their order. Throws as ``Association/fetchAll(_:of:)`` does.
  @_documentation(visibility: internal)
  public func fetchAll(_ db: Database, of owners: [Owner]) throws -> [Related] {
    try fetch(records, db, owners)
  }
}

extension FoundRecords where Row: Record {
  fileprivate func with<A: Association>(
    _ association: A, _ db: Database
  ) throws -> FoundRecords<(Row, A.Related)> where A.Owner == Row {
    FoundRecords<(Row, A.Related)>(try association.pairs(db, of: rows), places)
  }

  fileprivate func with<A: Association, B: Association>(
    _ first: A, _ second: B, _ db: Database
  ) throws -> FoundRecords<(Row, A.Related, B.Related)> where A.Owner == Row, B.Owner == Row {
    FoundRecords<(Row, A.Related, B.Related)>(
      try first.triples(second, db, of: rows), places)
  }
}

extension Association {
  /// Each of the records with what belongs to it.
  func pairs(_ db: Database, of owners: [Owner]) throws -> [(Owner, Related)] {
    Array(zip(owners, try related(db, to: owners)))
  }

  /// Each of the records with what belongs to it, by this and another association.
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
        .misuse, "an association has found \(related.count) times what belongs to \(owners.count)")
    }
    return related
  }
}
