import Foundation
import Larder

/// A type in a way in which it is stored: what all operators are tried with.
protocol TypeSubject: Sendable {
  associatedtype Value: DatabaseValueConvertible & Hashable where Value.AsOptional == Value?
  static var name: String { get }
  /// Nil for the type's own.
  static var coding: ColumnCoding<Value>? { get }
  static var dateFormat: DateFormat { get }
  /// A value as it comes back from the database.
  static func sample(_ sampler: inout Sampler) -> Value
  /// Whether one comes before another, in the order in which they are documented to be compared.
  static func precedes(_ left: Value, _ right: Value) -> Bool
  /// What operators the type has besides.
  static func checkMore(_ check: inout TypeCheck<Self>) throws
}

extension TypeSubject {
  static var coding: ColumnCoding<Value>? { nil }
  static var dateFormat: DateFormat { .secondsSince1970 }
  static func checkMore(_ check: inout TypeCheck<Self>) throws {}
  static func same(_ left: Value, _ right: Value) -> Bool {
    !precedes(left, right) && !precedes(right, left)
  }
}

/// A row with two values and one that may be missing.
struct TypeRow<S: TypeSubject>: Record {
  var id: Int
  var a: S.Value
  var b: S.Value
  var maybe: S.Value?

  struct Columns: Sendable {
    let id = Column("id", \TypeRow.id, .primaryKey)
    let a: Column<TypeRow, S.Value>
    let b: Column<TypeRow, S.Value>
    let maybe: Column<TypeRow, S.Value?>

    init() {
      if let coding = S.coding {
        a = Column("a", \TypeRow.a, as: coding)
        b = Column("b", \TypeRow.b, as: coding)
        maybe = Column("maybe", \TypeRow.maybe, as: coding)
      } else {
        a = Column("a", \TypeRow.a)
        b = Column("b", \TypeRow.b)
        maybe = Column("maybe", \TypeRow.maybe)
      }
    }
  }
  static var columns: Columns { Columns() }
  static var table: Table<TypeRow> {
    let columns = columns
    return Table("sample", TypeRow.init, columns.id, columns.a, columns.b, columns.maybe)
  }
}

/// Tries the operators on some rows, and keeps what isn't as Swift has it.
struct TypeCheck<S: TypeSubject> {
  typealias Row = TypeRow<S>
  let db: Database
  let rows: [Row]
  /// Values of the rows and others.
  let pivots: [S.Value]
  private(set) var failures: [String] = []
  var tried = 0

  init(_ db: Database, _ sampler: inout Sampler, count: Int) throws {
    self.db = db
    // Few enough different ones that some are equal.
    let pool = (0..<max(2, count * 2)).map { _ in S.sample(&sampler) }
    func pick() -> S.Value { pool[Int(sampler.random.next() % UInt64(pool.count))] }
    rows = (0..<count).map {
      let (a, b) = (pick(), sampler.chance(3) ? nil : pick())
      return Row(id: $0, a: a, b: b ?? a, maybe: sampler.chance(4) ? nil : b ?? pick())
    }
    pivots = (0..<3).map { _ in pick() }
    try Row.table.create(db)
    try Row.insert(db, contentsOf: rows)
  }

  mutating func fail(_ what: String, _ detail: String) {
    failures.append("\(S.name), \(what): \(detail)")
  }

  /// The rows of a condition are those for which Swift says so.
  ///
  /// - Parameter isExempt: the rows of which the outcome is SQLite's.
  mutating func filter(
    _ what: String, _ condition: (Row.QueryFields) -> SQLExpression<Bool>,
    _ expected: (Row) -> Bool, unless isExempt: (Row) -> Bool = { _ in false }
  ) {
    tried += 1
    do {
      let found = try Row.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db)
        .filter { !isExempt(rows[$0]) }
      let wanted = rows.filter { !isExempt($0) && expected($0) }.map(\.id)
      guard found != wanted else { return }
      let wrong = Set(found).symmetricDifference(wanted).sorted().first ?? 0
      fail(what, "wrong for \(rows[wrong]), with \(pivots)")
    } catch {
      fail(what, "\(error)")
    }
  }

  /// Each row's value is the one that Swift computes, within what the rule says.
  mutating func select<V: DatabaseValueConvertible & Equatable>(
    _ what: String, _ expression: (Row.QueryFields) -> SQLExpression<V>,
    _ expected: (Row) -> SwiftResult<V>
  ) {
    tried += 1
    let outcomes = rows.map { ($0, expected($0)) }
    let certain = outcomes.filter { if case .value = $0.1 { true } else { false } }
    if !certain.isEmpty {
      do {
        let ids = certain.map(\.0.id)
        let found = try Row.filter { $0.id.in(ids) }.order { $0.id }.select(expression).fetchAll(db)
        for ((row, outcome), value) in zip(certain, found) where !outcome.allows(value) {
          return fail(what, "\(value) for \(row), not \(outcome)")
        }
      } catch {
        fail(what, "\(error)")
      }
    }
    for (row, outcome) in outcomes.filter({ if case .value = $0.1 { false } else { true } })
      .prefix(4)
    {
      let value = try? Row.filter { $0.id == row.id }.select(expression).fetchOne(db)
      if let value, !outcome.allows(value) {
        fail(what, "\(value) for \(row), not \(outcome)")
      }
    }
  }

  /// What an aggregate makes of all rows.
  mutating func aggregate<V: DatabaseValueConvertible & Equatable>(
    _ what: String, _ expression: (Row.QueryFields) -> SQLExpression<V>, _ expected: SwiftResult<V>
  ) {
    tried += 1
    do {
      guard let value = try Row.all.select(expression).fetchOne(db) else {
        return fail(what, "no row")
      }
      if !expected.allows(value) { fail(what, "\(value), not \(expected)") }
    } catch {
      if case .value = expected { fail(what, "\(error)") }
    }
  }

  /// An assignment gives a row the value that Swift computes, or fails and changes nothing.
  mutating func assign(
    _ what: String, _ change: (inout Assignments<Row>) -> Void,
    _ expected: (Row) -> SwiftResult<S.Value>
  ) {
    tried += 1
    for row in rows.shuffled().prefix(4) {
      let outcome = expected(row)
      do {
        try db.inTransaction { db in
          db.setRollbackOnly()
          let isDone: Bool
          do {
            try Row.filter { $0.id == row.id }.update(db, change)
            isDone = true
          } catch {
            isDone = false
            if case .value = outcome { fail(what, "\(error) for \(row)") }
          }
          let value = try Row.find(db, row.id).a
          if isDone ? !outcome.allows(value) : !S.same(value, row.a) {
            fail(what, "\(value) for \(row), not \(outcome)")
          }
        }
      } catch {
        fail(what, "\(error) for \(row)")
      }
    }
  }
}

/// What Swift computes.
enum SwiftResult<Value: Equatable> {
  case value(Value)
  /// This one, or an error.
  case valueOrError(Value)
  /// One of the two.
  case either(Value, Value)
  /// A number close to this one.
  case about(Double, error: Double)
  case error

  func allows(_ value: Value) -> Bool {
    switch self {
    case .value(let expected), .valueOrError(let expected): return value == expected
    case .either(let one, let other): return value == one || value == other
    case .about(let expected, let error):
      guard let number = value as? Double ?? (value as? Double?) ?? nil else { return false }
      return abs(number - expected) <= error
    case .error: return false
    }
  }
}
