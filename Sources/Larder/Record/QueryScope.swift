import CSQLite
import LarderSQLite

/// The lexical scopes of correlated subqueries: the queries whose closures this thread is in. A query that
/// begins inside one learns from it which table names are taken.
///
/// ```swift
/// Employee.filter { boss in Employee.filter { $0.reportsTo == boss.id }.exists }
/// // … WHERE EXISTS (SELECT 1 FROM "employee" AS "employee_2"
/// // WHERE "employee_2"."reports_to" IS "employee"."id")
/// ```
///
/// Closures of queries are synchronous, so a thread-local variable is enough.
///
/// Its unmanaged references are sound: the caller of a query's closure holds the query's tables, and restores
/// the outer scope afterwards. The tables of a nested query are retained here until then.
@usableFromInline
enum QueryScope {
  /// Runs a closure of a query with these tables.
  @inlinable
  static func run<T>(_ tables: QueryTables, _ body: () -> T) -> T {
    let outer = enter(tables)
    let result = body()
    withExtendedLifetime(tables) { leave(to: outer) }
    return result
  }

  /// Enters a query's scope, and returns the one around it.
  @usableFromInline
  static func enter(_ tables: QueryTables) -> Unmanaged<QueryTables>? {
    let slot = slot()
    let outer = slot.pointee
    slot.pointee = .passUnretained(tables)
    if let outer {
      // These tables, after those of the enclosing queries.
      let aliases = outer.takeUnretainedValue().aliases + tables.aliases
      slot.pointee = .passRetained(QueryTables(tables.text, aliases))
    }
    return outer
  }

  @usableFromInline
  static func leave(to outer: Unmanaged<QueryTables>?) {
    let slot = slot()
    if outer != nil { slot.pointee?.release() }
    slot.pointee = outer
  }

  /// Whether this thread is in a closure of a query.
  static var isInside: Bool { slot().pointee != nil }

  /// The names of the tables of all enclosing queries.
  static var names: [String] {
    slot().pointee?._withUnsafeGuaranteedRef { $0.aliases.map(\.name) } ?? []
  }

  /// The thread-local variable. Never inlined, so that there is only one.
  @inline(never)
  private static func slot() -> UnsafeMutablePointer<Unmanaged<QueryTables>?> {
    UnsafeMutableRawPointer(larder_thread_slot())
      .assumingMemoryBound(to: Unmanaged<QueryTables>?.self)
  }
}

extension QueryAlias {
  /// The name of a table or, if that is taken, the name with a number.
  static func newName(for table: String, besides taken: [String]) -> String {
    let taken = Set(taken.map(\.foldedName))
    var name = table
    var number = 2
    while taken.contains(name.foldedName) {
      name = "\(table)_\(number)"
      number += 1
    }
    return name
  }
}

extension QueryTables {
  /// A name for another table that neither these tables nor those of the enclosing queries have.
  func newAlias(
    for table: String, _ codings: [ExpressionCoding?] = [],
    source: (any AnyObject & Sendable)? = nil
  ) -> QueryAlias {
    let name = QueryAlias.newName(for: table, besides: aliases.map(\.name) + QueryScope.names)
    return QueryAlias(name, of: table, codings: codings, source: source)
  }
}
