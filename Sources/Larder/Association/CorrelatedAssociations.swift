import LarderSQLite

// The records that belong to a row of a surrounding query, as a query in its closure.

extension RecordAssociation {
  /// The records that belong to a row of the surrounding query, as a query in its closure.
  ///
  /// ```swift
  /// Country.filter { Country.cities($0).exists }
  /// // … WHERE EXISTS (SELECT 1 FROM "city" WHERE "country"."code" = "city"."country")
  /// Country.select { ($0.name, Country.cities($0).filter { $0.population > 100_000 }.count) }
  /// ```
  ///
  /// Keys are compared as SQL compares the two columns, with the collation of the key that is referred to. A
  /// limit of the association is the query's limit.
  public func callAsFunction(_ owner: RecordFields<Owner>) -> Query<Target> {
    records.query(ofRowIn: owner.alias)
  }

  /// The same for a row that a left join may lack, to which no records belong then.
  public func callAsFunction(_ owner: OptionalFields<Owner>) -> Query<Target> {
    records.query(ofRowIn: owner.alias)
  }
}

extension RelatedRecords {
  fileprivate func query(ofRowIn owner: QueryAlias) -> Query<Target> {
    var select = query.select
    select.moveIntoScope()
    let place = select.tables.alias(at: 0)
    var (keys, foreignKey) = (ownerKey.qualified(by: owner), column.qualified(by: place))
    if let link {
      select.join(.join, link.table) { names in
        let alias = names.tables.alias(at: 1)
        foreignKey = column.qualified(by: alias)
        return SQLExpression<Bool>(
          link.key.qualified(by: place).infix(.equal, link.foreignKey.qualified(by: alias)))
      }
    }
    // The collation of the left operand applies: that of the key that is referred to.
    if isReferredTo { swap(&keys, &foreignKey) }
    select.add(condition: keys.infix(.equal, foreignKey))
    return Query(limit.map { select.setting(limit: $0, offset: offset) } ?? select)
  }
}
