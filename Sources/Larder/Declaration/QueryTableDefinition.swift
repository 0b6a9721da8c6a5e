import LarderSQLite

/// The name and definition of a joined table, which may be a ``CommonTable``.
@_documentation(visibility: internal)
public struct QueryTableDefinition: Sendable {
  let name: String
  /// The definition; nil for an existing table, of which FROM lists only the name.
  let source: SQLFragment?
  let codings: [ExpressionCoding?]
  /// The names of the columns, if they aren't those that its type says.
  var columns: CommonColumns?
  var record: TableCore?

  func named(_ alias: String) -> SQLFragment {
    if let record { return record.reference(as: alias) }
    if let source { return "\(source) AS \(name: alias)" }
    return SQLFragment(text: QueryAlias.definition(of: name, as: alias))
  }
}
