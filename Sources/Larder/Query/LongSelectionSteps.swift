import LarderSQLite

// Steps after a selection of three to eight expressions. While the compiler still infers the selection's row, it
// fits a closure's parameters to a fixed number of expressions, but not to a pack (Swift 6.3).

extension Selection {
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, Terms: OrderTerms>(
    @SQLOrder _ terms: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>) -> Terms
  ) -> Self where Row == (A, B, C) {
    changed { $0.add(order: terms($1.next(), $1.next(), $1.next()).orderingTerms.node) }
  }
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, D, Terms: OrderTerms>(
    @SQLOrder _ terms: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>) ->
      Terms
  ) -> Self where Row == (A, B, C, D) {
    changed { $0.add(order: terms($1.next(), $1.next(), $1.next(), $1.next()).orderingTerms.node) }
  }
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, D, E, Terms: OrderTerms>(
    @SQLOrder _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E) {
    changed {
      $0.add(order: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next()).orderingTerms.node)
    }
  }
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, D, E, F, Terms: OrderTerms>(
    @SQLOrder _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F) {
    changed {
      $0.add(
        order: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()).orderingTerms
          .node)
    }
  }
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, D, E, F, G, Terms: OrderTerms>(
    @SQLOrder _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F, G) {
    changed {
      $0.add(
        order: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next())
          .orderingTerms.node)
    }
  }
  /// Orders rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func order<A, B, C, D, E, F, G, H, Terms: OrderTerms>(
    @SQLOrder _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>, SQLExpression<H>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F, G, H) {
    changed {
      $0.add(
        order: terms(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).orderingTerms.node)
    }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, Terms: GroupTerms>(
    @SQLGroup _ terms: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>) -> Terms
  ) -> Self where Row == (A, B, C) {
    changed { $0.add(groups: terms($1.next(), $1.next(), $1.next()).groupTerms) }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, D, Terms: GroupTerms>(
    @SQLGroup _ terms: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>) ->
      Terms
  ) -> Self where Row == (A, B, C, D) {
    changed { $0.add(groups: terms($1.next(), $1.next(), $1.next(), $1.next()).groupTerms) }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, D, E, Terms: GroupTerms>(
    @SQLGroup _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E) {
    changed {
      $0.add(groups: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next()).groupTerms)
    }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, D, E, F, Terms: GroupTerms>(
    @SQLGroup _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F) {
    changed {
      $0.add(
        groups: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()).groupTerms)
    }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, D, E, F, G, Terms: GroupTerms>(
    @SQLGroup _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F, G) {
    changed {
      $0.add(
        groups: terms($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next())
          .groupTerms)
    }
  }
  /// Groups rows, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func group<A, B, C, D, E, F, G, H, Terms: GroupTerms>(
    @SQLGroup _ terms: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>, SQLExpression<H>
    ) -> Terms
  ) -> Self where Row == (A, B, C, D, E, F, G, H) {
    changed {
      $0.add(
        groups: terms(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).groupTerms)
    }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C>(
    @SQLCondition _ condition: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>) ->
      SQLExpression<Bool>
  ) -> Self where Row == (A, B, C) {
    changed { $0.add(groupCondition: condition($1.next(), $1.next(), $1.next()).node) }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C, D>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D) {
    changed { $0.add(groupCondition: condition($1.next(), $1.next(), $1.next(), $1.next()).node) }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C, D, E>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E) {
    changed {
      $0.add(groupCondition: condition($1.next(), $1.next(), $1.next(), $1.next(), $1.next()).node)
    }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C, D, E, F>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F) {
    changed {
      $0.add(
        groupCondition: condition($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next())
          .node)
    }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C, D, E, F, G>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, G) {
    changed {
      $0.add(
        groupCondition: condition(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).node)
    }
  }
  /// Keeps only groups that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func having<A, B, C, D, E, F, G, H>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>, SQLExpression<H>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, G, H) {
    changed {
      $0.add(
        groupCondition: condition(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).node)
    }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C>(
    @SQLCondition _ condition: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>) ->
      SQLExpression<Bool>
  ) -> Self where Row == (A, B, C) {
    asTable.changed { $0.add(condition: condition($1.next(), $1.next(), $1.next()).node) }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C, D>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D) {
    asTable.changed {
      $0.add(condition: condition($1.next(), $1.next(), $1.next(), $1.next()).node)
    }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C, D, E>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E) {
    asTable.changed {
      $0.add(condition: condition($1.next(), $1.next(), $1.next(), $1.next(), $1.next()).node)
    }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C, D, E, F>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F) {
    asTable.changed {
      $0.add(
        condition: condition($1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()).node)
    }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C, D, E, F, G>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, G) {
    asTable.changed {
      $0.add(
        condition: condition(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).node)
    }
  }
  /// Keeps only selected rows that satisfy the condition, as the form of two expressions does.
  @_documentation(visibility: internal)
  public func filter<A, B, C, D, E, F, G, H>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, SQLExpression<C>, SQLExpression<D>, SQLExpression<E>,
      SQLExpression<F>, SQLExpression<G>, SQLExpression<H>
    ) -> SQLExpression<Bool>
  ) -> Self where Row == (A, B, C, D, E, F, G, H) {
    asTable.changed {
      $0.add(
        condition: condition(
          $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next(), $1.next()
        ).node)
    }
  }
}
