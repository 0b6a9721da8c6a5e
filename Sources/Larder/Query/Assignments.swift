import LarderSQLite

/// The columns of an UPDATE: what is assigned to one is written.
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
/// SQLite computes with integers of 64 bits, and with real numbers beyond. An integer that the column's
/// property can't have throws ``LarderSQLite/DatabaseError`` (`constraintDatatype`), and nothing is written.
@dynamicMemberLookup
public struct Assignments<R: Record> {
  private let alias: QueryAlias
  private var assignments: [Assignment] = []
  /// Whether a column was looked at to which nothing was assigned before.
  private var hasRead = false

  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column: what was assigned to it here, or else its value before the update. To swap two columns,
  /// keep one of them first: `let name = $0.name`.
  ///
  /// A second assignment to a column has to build on the first one, as `+=` does; else the update throws
  /// ``LarderSQLite/DatabaseError``.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    // With the table's name: inside of another query, a name alone would be that of its own column.
    mutating get {
      let column = R.columns[keyPath: keyPath].storage
      guard let index = index(of: column.definition.name) else {
        hasRead = true
        return column.expression(of: alias)
      }
      assignments[index].isRead = true
      let value = assignments[index].value
      // What it is compared with is stored as the column is.
      return SQLExpression(
        column.expressionCoding.map { SQLFragment(.parentheses, value, coding: $0) } ?? value)
    }
    set {
      let column = R.columns[keyPath: keyPath].storage
      assign(column.assigned(newValue.node), to: column)
    }
  }

  // Values are Optionals of Optionals here, which any value becomes by itself, and which no operator takes:
  // for `$0.count += 1` the compiler would take Int's and not look at those of expressions. What a protocol's
  // extension has (below) is taken where what stands here fits less well.

  /// A column that may be NULL, to which a value or nil is assigned.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> Value?? {
    @available(*, unavailable, message: "a column's value is known to the database only")
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
    @available(*, unavailable, message: "a column's value is known to the database only")
    get { nil }
    @available(*, unavailable, message: "the column's type isn't Optional: it can't be NULL")
    set {}
  }

  /// Not available: what may be nil or NULL for a column that can't be.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> any ValueOrNone<Value> {
    @available(*, unavailable, message: "a column's value is known to the database only")
    get { SQLExpression<Value?>.wrong }
    @available(
      *, unavailable,
      message: """
        the column can't be NULL, and what it shall become can: unwrap the value, or say with coalesce(…) \
        what stands for NULL
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

  private func index(of name: String) -> Int? {
    assignments.firstIndex { $0.name.isSame(as: name) }
  }

  /// The values that are assigned to columns, without expressions.
  var values: [(name: String, value: DatabaseValue)] {
    assignments.compactMap { assignment in
      assignment.value.boundValue.map { (assignment.name, $0) }
    }
  }

  /// What stands behind SET; nothing where nothing is assigned. Throws where columns were only looked at:
  /// `$0.count == 6` compares.
  ///
  /// - Parameter raised: what the column becomes that counts versions, where nothing is assigned to it.
  func list(_ core: TableCore, raised: (Int) -> SQLFragment) throws -> [SQLFragment] {
    if assignments.isEmpty, hasRead {
      throw DatabaseError(
        .misuse, "the update assigns nothing to the columns that it names: = assigns, == compares")
    }
    guard !assignments.isEmpty else { return [] }
    for assignment in assignments where !assignment.isWritten {
      try core.checkWritten(
        core.columns.indices.filter { core.columns[$0].name == assignment.name })
    }
    var pieces = assignments.map {
      SQLFragment($0.column, .assign, $0.value.inside(.lowest))
    }
    if let version = core.sql.version, index(of: core.columns[version].name) == nil {
      pieces.append("\(name: core.columns[version].name) = \(raised(version))")
    }
    return pieces
  }
}

/// What is assigned to one column. Not inside of ``Assignments``: it would be generic too, and each copy of it a
/// look at its type's metadata.
private struct Assignment {
  let name: String
  let column: SQLFragment
  /// Whether the column is one that is ever written.
  let isWritten: Bool
  var value: SQLFragment
  /// Whether the value was read since it was assigned: what is assigned then builds on it.
  var isRead = false
}

extension Assignments: ColumnAssignments {}

/// What assigns to columns: only for its extension, in which the compiler looks last.
@_documentation(visibility: internal)
public protocol ColumnAssignments {}

extension ColumnAssignments {
  /// A column that may be NULL, to which an expression is assigned that can't be.
  public subscript<R, Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value?>>
  ) -> any ExpressionOfTheColumnsType<Value> where Self == Assignments<R> {
    @available(*, unavailable, message: "a column's value is known to the database only")
    get { SQLExpression<Value>.wrong }
    set {
      let column = R.columns[keyPath: keyPath].storage
      self.assign(column.assigned(newValue.fragment), to: column)
    }
  }

  /// A column, to which a value is assigned, which is bound. What it was can't be read.
  @_disfavoredOverload
  public subscript<R, Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> Value?? where Self == Assignments<R> {
    @available(*, unavailable, message: "a column's value is known to the database only")
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
    @available(*, unavailable, message: "a column's value is known to the database only")
    get { SQLExpression<Value>.wrong }
    @available(
      *, unavailable,
      message: """
        the expression has another type than the column: make it the column's with .real, .integer or \
        .cast(to:)
        """
    )
    set {}
  }
}
