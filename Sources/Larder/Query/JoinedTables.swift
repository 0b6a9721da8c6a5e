import LarderSQLite

// The sources of joins: a type for each number of tables, whose fields and rows are tuples. (Parameter
// packs of tables don't type-check: closures then get one tuple, and a chain of three joins takes seconds.)

/// A join of any number of tables.
@_documentation(visibility: internal)
public protocol Joined: QuerySource {}

/// A join whose first table is a record's.
@_documentation(visibility: internal)
public protocol JoinOfRecord: QuerySource {
  /// The first table's records.
  associatedtype First: Record
}

/// A join of two tables.
@_documentation(visibility: internal)
public enum Join2<A: QuerySource, B: QuerySource>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (A.QueryFields, B.QueryFields) {
    (A.queryTables(&names), B.queryTables(&names))
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow
  ) {
    let (a, b) = (A.queryReader(&columns), B.queryReader(&columns))
    return { (try a($0), try b($0)) }
  }
}

extension Join2: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of three tables.
@_documentation(visibility: internal)
public enum Join3<A: QuerySource, B: QuerySource, C: QuerySource>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields
  ) {
    (A.queryTables(&names), B.queryTables(&names), C.queryTables(&names))
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow
  ) {
    let (a, b, c) = (A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns))
    return { (try a($0), try b($0), try c($0)) }
  }
}

extension Join3: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of four tables.
@_documentation(visibility: internal)
public enum Join4<A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields
  ) {
    (A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names))
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow
  ) {
    let (a, b, c, d) = (
      A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns),
      D.queryReader(&columns)
    )
    return { (try a($0), try b($0), try c($0), try d($0)) }
  }
}

extension Join4: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of five tables.
@_documentation(visibility: internal)
public enum Join5<A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource, E: QuerySource>:
  Joined
{
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields
  ) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names),
      E.queryTables(&names)
    )
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow, E.QueryRow
  ) {
    let (a, b, c, d, e) = (
      A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns),
      D.queryReader(&columns), E.queryReader(&columns)
    )
    return { (try a($0), try b($0), try c($0), try d($0), try e($0)) }
  }
}

extension Join5: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of six tables.
@_documentation(visibility: internal)
public enum Join6<
  A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource, E: QuerySource, F: QuerySource
>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields
  ) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names),
      E.queryTables(&names), F.queryTables(&names)
    )
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow, E.QueryRow, F.QueryRow
  ) {
    let (a, b, c, d, e, f) = (
      A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns),
      D.queryReader(&columns), E.queryReader(&columns), F.queryReader(&columns)
    )
    return { (try a($0), try b($0), try c($0), try d($0), try e($0), try f($0)) }
  }
}

extension Join6: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of seven tables.
@_documentation(visibility: internal)
public enum Join7<
  A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource, E: QuerySource, F: QuerySource,
  G: QuerySource
>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
    G.QueryFields
  ) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names),
      E.queryTables(&names), F.queryTables(&names), G.queryTables(&names)
    )
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow, E.QueryRow, F.QueryRow, G.QueryRow
  ) {
    let (a, b, c, d, e, f, g) = (
      A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns),
      D.queryReader(&columns), E.queryReader(&columns), F.queryReader(&columns),
      G.queryReader(&columns)
    )
    return { (try a($0), try b($0), try c($0), try d($0), try e($0), try f($0), try g($0)) }
  }
}

extension Join7: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

/// A join of eight tables.
@_documentation(visibility: internal)
public enum Join8<
  A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource, E: QuerySource, F: QuerySource,
  G: QuerySource, H: QuerySource
>: Joined {
  /// Not available: a join can't be the nullable side of another join.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns of all tables.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> (
    A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
    G.QueryFields, H.QueryFields
  ) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names),
      E.queryTables(&names), F.queryTables(&names), G.queryTables(&names), H.queryTables(&names)
    )
  }

  /// Reads a row of each table.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> (
    A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow, E.QueryRow, F.QueryRow, G.QueryRow, H.QueryRow
  ) {
    let (a, b, c, d, e, f, g, h) = (
      A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns),
      D.queryReader(&columns), E.queryReader(&columns), F.queryReader(&columns),
      G.queryReader(&columns), H.queryReader(&columns)
    )
    return {
      (try a($0), try b($0), try c($0), try d($0), try e($0), try f($0), try g($0), try h($0))
    }
  }
}

extension Join8: JoinOfRecord where A: Record {
  /// The first table's records.
  @_documentation(visibility: internal)
  public typealias First = A
}

extension Query {
  /// Joins each row with the rows of a table that is made from its columns.
  package func joined<New: QuerySource>(each other: QueryTableDefinition) -> Query<New> {
    joined(.join, other) { _ in
      SQLExpression<Bool>(SQLFragment(text: "TRUE", isNullable: false))
    }
  }

  /// The query with one more table.
  func joined<New: QuerySource>(
    _ kind: SQLOperator, _ other: QueryTableDefinition,
    on condition: (New.QueryFields) -> SQLExpression<Bool>
  ) -> Query<New> {
    var select = select
    select.join(kind, other) { names in
      var names = names
      return condition(New.queryTables(&names))
    }
    return Query<New>(select)
  }
}
