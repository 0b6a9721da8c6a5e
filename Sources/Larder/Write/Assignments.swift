import LarderSQLite

/// The columns of an UPDATE. Assigning to a column writes it.
///
/// ```swift
/// try City.filter { $0.id == 5 }.update(db) {
///   $0.population += 1
///   $0.name = name
///   $0.mayor = nil
/// }
/// // UPDATE "city" SET "population" = larder_integer("city"."population" + ?), "name" = ?,
/// //   "mayor" = ? WHERE …
/// ```
///
/// SQLite computes with 64-bit integers, and with real numbers beyond those. An integer that is out of the
/// property's range throws ``LarderSQLite/DatabaseError`` (`constraintDatatype`), and nothing is
/// written. So does an expression whose text a column of numbers in another program's table would
/// change, such as `007`; for a value, that is a ``RecordError``.
@dynamicMemberLookup
public struct Assignments<R: Record> {
  private let alias: QueryAlias
  private var assignments: [Assignment] = []
  /// Whether a column was read before anything was assigned to it.
  private var hasRead = false

  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column's value: the one assigned here, or else the one before the update. To swap two columns, save
  /// one of them first: `let name = $0.name`.
  ///
  /// A second assignment to a column has to build on the first one, as `+=` does; else the update throws
  /// ``LarderSQLite/DatabaseError``.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    // Qualified by the table's name: inside another query, a bare name would refer to that query's column.
    mutating get {
      let column = R.columns[keyPath: keyPath].storage
      guard let index = index(of: column.definition.name) else {
        hasRead = true
        return column.expression(of: alias)
      }
      assignments[index].isRead = true
      let value = assignments[index].value
      // Values compared with this one are converted to the column's stored form.
      return SQLExpression(
        column.expressionCoding.map { coding in
          coding.moment.map(value.moment) ?? SQLFragment(.parentheses, value, coding: coding)
        } ?? value)
    }
    set {
      let column = R.columns[keyPath: keyPath].storage
      assign(column.assigned(newValue.node), to: column)
    }
  }

  // Values are of type `Value??` here: any value converts to it implicitly, and no operator takes it. With
  // `Value`, the compiler would resolve `$0.count += 1` to Int's operator and ignore those of expressions.
  // The overloads in the protocol extension (below) are chosen only if those here fit less well.

  /// Assigns a value or nil to a column that can be NULL.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> Value?? {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { nil }
    set {
      let column = R.columns[keyPath: keyPath].storage
      assign(column.stored(newValue ?? nil), to: column)
    }
  }

  /// Not available: nil for a column that can't be NULL.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> Never? {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { nil }
    @available(*, unavailable, message: "the column's type isn't Optional: it can't be NULL")
    set {}
  }

  /// Not available: a value that may be nil or NULL for a column that can't be NULL.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> any ValueOrNone<Value> {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { SQLExpression<Value?>.wrong }
    @available(
      *, unavailable,
      message: """
        the column can't be NULL, but the assigned value can: unwrap the value, or replace NULL with \
        coalesce(…)
        """
    )
    set {}
  }

  fileprivate mutating func assign<Value>(
    _ value: SQLFragment, to column: ColumnStorage<Value>
  ) {
    let name = column.definition.name
    guard let index = index(of: name) else {
      assignments.append(
        Assignment(
          name: name, column: column.unqualified, isWritten: column.definition.isWritten,
          value: value))
      return
    }
    let isRead = assignments[index].isRead
    assignments[index].value =
      isRead ? value : .misuse("“\(name)” is assigned twice in one update")
    assignments[index].isRead = false
  }

  /// Assigns the timestamps that nothing is assigned to, if anything else is.
  mutating func stamp(
    _ core: TableCore, _ value: (ColumnDefinition, ColumnTimestamp) -> SQLFragment
  ) {
    guard !assignments.isEmpty else { return }
    for index in core.sql.updated {
      let column = core.columns[index]
      guard let timestamp = column.timestamp, self.index(of: column.name) == nil else { continue }
      assignments.append(
        Assignment(
          name: column.name, column: SQLFragment(text: column.name.quotedIdentifier),
          isWritten: true, value: value(column, timestamp)))
    }
  }

  private func index(of name: String) -> Int? {
    assignments.firstIndex { $0.name.isSame(as: name) }
  }

  /// The plain values among the assignments, without the expressions.
  var values: [(name: String, value: DatabaseValue)] {
    assignments.compactMap { assignment in
      assignment.value.boundValue.map { (assignment.name, $0) }
    }
  }

  /// The assignments of the SET clause; empty if there are none. Throws if columns were only read, as in
  /// `$0.count == 6`, which compares.
  ///
  /// - Parameters:
  ///   - raised: makes the new value of the version column, used if nothing is assigned to it.
  ///   - converting: the columns of the database's table that convert values.
  func list(
    _ core: TableCore, raised: (Int) -> SQLFragment, _ converting: [ConvertingColumn] = []
  ) throws -> [SQLFragment] {
    if assignments.isEmpty, hasRead {
      throw DatabaseError(
        .misuse, "the update names columns, but assigns nothing to them: = assigns, == compares")
    }
    guard !assignments.isEmpty else { return [] }
    for assignment in assignments where !assignment.isWritten {
      try core.checkWritten(
        core.columns.indices.filter { core.columns[$0].name == assignment.name })
    }
    var pieces = assignments.map {
      let value = converting.isEmpty ? $0.value : core.kept($0.value, in: $0.name, converting)
      return SQLFragment($0.column, .assign, value.parenthesized(in: .lowest))
    }
    if let version = core.sql.version, index(of: core.columns[version].name) == nil {
      pieces.append("\(name: core.columns[version].name) = \(raised(version))")
    }
    return pieces
  }
}

/// The assignment to one column. Not nested in ``Assignments``, where it would be generic too, and each
/// copy would look up its type's metadata.
private struct Assignment {
  let name: String
  let column: SQLFragment
  /// Whether the column can be written.
  let isWritten: Bool
  var value: SQLFragment
  /// Whether the value was read since it was assigned, so that a second assignment builds on it.
  var isRead = false
}

extension Assignments: ColumnAssignments {}

/// A type that assigns to columns. It exists for its extension, which overload resolution ranks last.
@_documentation(visibility: internal)
public protocol ColumnAssignments {}

extension ColumnAssignments {
  /// Assigns an expression that can't be NULL, or nil, to a column that can be NULL.
  ///
  /// An Optional, so that no other column takes what is read by it. The compiler crashes for a column of a
  /// common table if this is an existential.
  public subscript<R, Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> SQLExpression<Value>? where Self == Assignments<R> {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { nil }
    set {
      let column = R.columns[keyPath: keyPath].storage
      self.assign(newValue.map { column.assigned($0.node) } ?? "NULL", to: column)
    }
  }

  /// Assigns a value, as a bound parameter. The column's previous value can't be read.
  @_disfavoredOverload
  public subscript<R, Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> Value?? where Self == Assignments<R> {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { nil }
    set {
      let column = R.columns[keyPath: keyPath].storage
      self.assign((newValue ?? nil).map(column.stored) ?? "NULL", to: column)
    }
  }

  /// Not available: an expression of another type.
  @_disfavoredOverload
  public subscript<R, Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> any ExpressionOfTheColumnsType where Self == Assignments<R> {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { SQLExpression<Value>.wrong }
    @available(
      *, unavailable,
      message: """
        the expression and the column have different types: convert the expression with .real, .integer or \
        .cast(to:)
        """
    )
    set {}
  }

  /// Not available: a common table's column of another type. For the existential above, the compiler crashes.
  @_disfavoredOverload
  public subscript<R, Value, Other>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Other>?? where Self == Assignments<R> {
    @available(*, unavailable, message: "only the database knows a column's value")
    get { nil }
    @available(
      *, unavailable,
      message: """
        the expression and the column have different types: convert the expression with .real, .integer, \
        .coalesce(…) or .cast(to:)
        """
    )
    set {}
  }
}
