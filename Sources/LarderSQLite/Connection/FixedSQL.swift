/// SQL that stays the same while the program runs, such as a record's INSERT: each connection
/// compiles it once, and finds its statement by a number instead of by its text.
///
/// A class, since each copy of a text counts a reference, which takes as long as finding it.
@usableFromInline
package final class FixedSQL: Sendable {
  /// The statement.
  package let text: String
  /// Its number; nil for one that was made for a call, which is found by its text.
  let slot: Int?

  // The same text has the same number, so that a table that is declared over and over again
  // doesn't take ever more of them. The same means the same bytes: texts that Swift takes for equal
  // may name different tables.
  private static let slots = Lock<[[UInt8]: Int]>([:])

  /// Takes a number for a text.
  ///
  /// - Parameter isKept: whether it is one of the few that a table keeps.
  package init(_ text: String, isKept: Bool = true) {
    self.text = text
    slot =
      !isKept
      ? nil
      : Self.slots.withLock { slots in
        let bytes = Array(text.utf8)
        if let slot = slots[bytes] { return slot }
        slots[bytes] = slots.count
        return slots.count - 1
      }
  }
}

extension Database {
  /// The format of dates, where no column has its own.
  package var dateFormat: DateFormat { connection.dateFormat }

  /// Runs an INSERT, UPDATE or DELETE with what a closure binds, and returns the number of rows
  /// that it changed.
  package func run(_ sql: FixedSQL, bind: (BindingArena) throws -> Void) throws -> Int {
    try run(take(sql), bind)
  }

  @inline(__always)
  private func run(
    _ statement: PreparedStatement, _ bind: (BindingArena) throws -> Void
  ) throws -> Int {
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.runChange()
  }

  /// Calls a closure with a statement that stands before its first row, and must not be kept.
  ///
  /// The closure may be the caller's code, which can't close the database meanwhile.
  @inlinable
  package func withRows<T>(
    _ sql: FixedSQL, bind: (BindingArena) throws -> Void, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    let statement = try take(sql)
    defer { giveBack(statement) }
    try statement.bind(bind)
    return try statement.whileStepping(body)
  }

  @usableFromInline
  package func take(_ sql: FixedSQL) throws -> PreparedStatement {
    guard let slot = sql.slot else { return try take(SQL(raw: sql.text)) }
    _ = try connection.check()
    if let statement = cache.take(slot: slot) { return statement }
    let statement = try connection.prepare(sql.text, isPersistent: true)
    cache.add(statement, slot: slot)
    return statement
  }
}

extension PreparedStatement {
  @usableFromInline
  func bind(_ bind: (BindingArena) throws -> Void) throws {
    beginBinding()
    do {
      try bind(arena)
    } catch {
      throw endBinding(after: error)
    }
    try endBinding()
  }

  @inlinable
  func whileStepping<T>(_ body: (PreparedStatement) throws -> T) throws -> T {
    _ = try begin()
    connection.callDepth &+= 1
    defer { connection.callDepth &-= 1 }
    return try body(self)
  }

  /// Takes the steps that are left of a statement that writes: only then has it ended well.
  @usableFromInline
  package func stepToEnd() throws {
    while try step() {}
  }
}
