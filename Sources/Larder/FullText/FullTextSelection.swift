import LarderSQLite

// Selections of found records with expressions beside each. (The compiler of Swift 6.3 can't take apart a
// pack of expressions behind a record, nor choose between a pack of either and one of expressions.)

extension Query {
  /// The records that are found, with up to three expressions beside each.
  ///
  /// ```swift
  /// City.matching(City.text, .phrase("new york"))
  ///   .select { ($0, $0.highlight(\.name, mark: "[", "]"), $0.rank) }     // [(City, String, Double)]
  /// ```
  public func select<R: Record, Row>(
    @MatchSelection _ parts: (FullTextFields<R>) -> SelectedMatch<Row>
  ) -> Selection<Row> where From == FullTextMatch<R> {
    let match = scoped(parts)
    return Selection(
      select, match.builder.columns, match.builder.accesses,
      paged: { try PagedSelect($0, From.self) }, read: match.read)
  }
}

/// A result builder of a found record and the expressions beside it.
@resultBuilder
@_documentation(visibility: internal)
public enum MatchSelection {
  /// A found record, with an expression beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<R: Record, A: DatabaseValueConvertible>(
    _ parts: (FullTextFields<R>, SQLExpression<A>)
  ) -> SelectedMatch<(R, A)> {
    var columns = RecordAndValues<R>(of: parts.0.record.alias)
    let a = columns.add(parts.1)
    return columns.match { (try $0($1), try a($1)) }
  }

  /// A found record, with two expressions beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<
    R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible
  >(
    _ parts: (FullTextFields<R>, SQLExpression<A>, SQLExpression<B>)
  ) -> SelectedMatch<(R, A, B)> {
    var columns = RecordAndValues<R>(of: parts.0.record.alias)
    let (a, b) = (columns.add(parts.1), columns.add(parts.2))
    return columns.match { (try $0($1), try a($1), try b($1)) }
  }

  /// A found record, with three expressions beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<
    R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible, C: DatabaseValueConvertible
  >(
    _ parts: (FullTextFields<R>, SQLExpression<A>, SQLExpression<B>, SQLExpression<C>)
  ) -> SelectedMatch<(R, A, B, C)> {
    var columns = RecordAndValues<R>(of: parts.0.record.alias)
    let (a, b, c) = (columns.add(parts.1), columns.add(parts.2), columns.add(parts.3))
    return columns.match { (try $0($1), try a($1), try b($1), try c($1)) }
  }

  /// The selection.
  @_documentation(visibility: internal)
  public static func buildBlock<Row>(_ match: SelectedMatch<Row>) -> SelectedMatch<Row> { match }
}
