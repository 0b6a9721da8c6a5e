import CSQLite
import LarderSQLite

/// The lexical scopes of correlated subqueries: the queries whose closures this thread is in, the
/// innermost first, by which a query that begins in one of them finds out which names are taken.
///
/// ```swift
/// Employee.filter { boss in Employee.filter { $0.reportsTo == boss.id }.exists }
/// // … WHERE EXISTS (SELECT 1 FROM "employee" AS "employee_2"
/// // WHERE "employee_2"."reports_to" IS "employee"."id")
/// ```
///
/// Closures of queries are synchronous: what a thread is in tells all.
@usableFromInline
struct QueryScope {
  /// The query's tables, which its closure's caller holds.
  private let tables: Unmanaged<QueryTables>
  /// The scope around it on this thread, which outlives it.
  private var outer: UnsafeMutablePointer<QueryScope>?

  @usableFromInline
  init(_ tables: QueryTables) { self.tables = .passUnretained(tables) }

  /// Runs a closure of a query with these tables.
  @inlinable
  static func run<T>(_ tables: QueryTables, _ body: () throws -> T) rethrows -> T {
    var scope = QueryScope(tables)
    // The pointer is good as long as the body runs, and the old value is put back after it.
    return try withUnsafeMutablePointer(to: &scope) { scope in
      enter(scope)
      defer { leave(scope) }
      return try withExtendedLifetime(tables) { try body() }
    }
  }

  @usableFromInline
  static func enter(_ scope: UnsafeMutablePointer<QueryScope>) {
    let slot = slot()
    scope.pointee.outer = slot.pointee
    slot.pointee = scope
  }

  @usableFromInline
  static func leave(_ scope: UnsafeMutablePointer<QueryScope>) {
    slot().pointee = scope.pointee.outer
  }

  /// Whether this thread is in a closure of a query.
  static var isInside: Bool { slot().pointee != nil }

  /// The names of the tables of all queries around.
  static var names: [String] {
    var names: [String] = []
    var scope = slot().pointee
    while let current = scope {
      names += current.pointee.tables.takeUnretainedValue().aliases.map(\.name)
      scope = current.pointee.outer
    }
    return names
  }

  /// The thread's own variable. Never inlined, so that there is one of it.
  @inline(never)
  private static func slot() -> UnsafeMutablePointer<UnsafeMutablePointer<QueryScope>?> {
    UnsafeMutableRawPointer(larder_thread_slot())
      .assumingMemoryBound(to: UnsafeMutablePointer<QueryScope>?.self)
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
  /// A name for another table, which none of these has, nor one of a query around.
  func newAlias(for table: String, _ codings: [ExpressionCoding?] = []) -> QueryAlias {
    let taken = aliases.map(\.name) + (QueryScope.isInside ? QueryScope.names : [])
    return QueryAlias(QueryAlias.newName(for: table, besides: taken), codings: codings)
  }
}
