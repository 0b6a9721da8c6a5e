/// A connection of another engine than SQLite, as a ``Database`` needs it. Threads, scopes, the
/// statement cache and result sets are the same for all engines and stay above it.
///
/// It has one user at a time. It throws ``DatabaseError``, with the engine's name.
package protocol EngineConnection: AnyObject {
  /// The engine's name, for errors.
  var name: String { get }
  /// The engine's SQL dialect.
  var dialect: any SQLDialect { get }
  /// False once the connection is closed or lost.
  var isOpen: Bool { get }
  /// Whether the connection wasn't lost while it was idle. Needs no round trip as long as the engine has
  /// sent nothing meanwhile.
  func isAlive() -> Bool
  /// The error by which the connection was lost; nil if it wasn't.
  var lossError: DatabaseError? { get }
  /// Whether a transaction is open, also one that an error has aborted.
  var hasTransaction: Bool { get }
  var isReadOnly: Bool { get }
  /// How many parameters a statement may have.
  var variableLimit: Int { get }
  /// The handle that stops the running statement, from any thread.
  var interrupts: InterruptHandle { get }
  /// Compiles a statement, whose parameters are written as in SQLite (`?`, `:name`) or as the engine does.
  ///
  /// - Parameter deadline: the time by which it has to end, on the ``MonotonicClock``; nil for none.
  func prepare(_ sql: String, until deadline: Duration?) throws -> any EngineStatement
  /// Throws if a statement isn't valid. Doesn't run it.
  func validate(_ sql: String, until deadline: Duration?) throws
  /// Splits a text into its statements.
  func statements(in sql: String) -> [String]
  /// Begins or ends a transaction or a scope's savepoint.
  ///
  /// - Parameters:
  ///   - isScopes: whether the transaction is all of a scope, after which the session's state is restored.
  ///   - deadline: the time by which it has to end, on the ``MonotonicClock``; nil for none.
  func execute(_ control: TransactionControl, isScopes: Bool, until deadline: Duration?) throws
  /// Restores the session's initial state, if that isn't done yet. Closes the connection if that fails.
  func endScope()
  /// Makes the transaction that has just begun wait for its turn, which one at a time has. Does nothing if
  /// the engine has no such lock.
  ///
  /// - Parameter deadline: the time by which it has to end, on the ``MonotonicClock``; nil for none.
  func waitForTurn(until deadline: Duration?) throws
  /// Has each statement of the transaction, which has just begun, see the newest commits: for workers that lock
  /// the rows they change, and would conflict for nothing. Throws if the transaction has run a statement.
  func relaxIsolation() throws
  /// Notes that a row was written with an explicit key in a column that the engine numbers. Once that is
  /// committed, the engine's sequence continues behind the key.
  ///
  /// - Parameter table: the table's quoted name.
  func noteKey(_ key: Int64, of column: String, in table: String) throws
  /// Moves a column's sequence past keys that were written in the transaction, as far as they are in the way
  /// of its next number.
  func passKeys(of column: String, in table: String) throws
  /// Defers a statement without rows, in a transaction, to travel with the next one. If it fails, that one
  /// does.
  func putOff(_ sql: String) throws
  /// Takes the migration lock until the end of the transaction, which has just begun. If another process has
  /// it, the first statement throws `sqlState` 22012, and ``waitForMigration(inTransaction:)`` is to be
  /// called.
  func beginMigration() throws
  /// Waits for the migration lock, and takes it: until the end of the transaction, which sees what others
  /// have migrated; or, outside of one, until ``endMigration(restoring:inTransaction:)``.
  func waitForMigration(inTransaction: Bool) throws
  /// Restores the search path, which a migration may have set for the whole connection.
  func endMigration(restoring searchPath: String, inTransaction: Bool) throws
  /// Creates, or cleans, the engine's own tables, before each run of migrations.
  func makeBookkeeping() throws
  /// The tables that the open transaction has read. Throws if that isn't known, or if one of them can't be
  /// observed.
  func tablesRead() throws -> EngineReads
  /// Has the engine report commits to tables, from the end of the transaction on. Returns false if other
  /// transactions are in the way now. The transaction then has to be rolled back.
  func reportCommits(to tables: Set<UInt32>) throws -> Bool
  /// Closes the connection. Does nothing in a forked process.
  func close()
}

/// The tables that a transaction of another engine has read, by the engine's numbers.
package struct EngineReads: Sendable {
  /// The tables, with those whose changes may change their rows.
  package var tables: Set<UInt32> = []
  /// Tables that were read, but whose commits the engine doesn't report yet.
  package var unreported: Set<UInt32> = []

  package init() {}
}

/// The dialect of an engine, which the layers above write SQL in: an object of their class has what they need.
/// They cast to the class, since a cast to a protocol takes longer than finding a statement.
package protocol SQLDialect: AnyObject {}
