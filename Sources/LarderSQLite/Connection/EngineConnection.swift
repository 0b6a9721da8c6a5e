/// A connection of another engine than SQLite: what a ``Database`` needs of one. Threads, scopes, the
/// statement cache and result sets are the same for all engines and stay above it.
///
/// It has one user at a time. What it throws is ``DatabaseError``, with the engine's name.
package protocol EngineConnection: AnyObject {
  /// The engine's name, for errors.
  var name: String { get }
  /// How SQL is written for it, for those above who write some.
  var writing: AnyObject { get }
  /// False once it is closed or lost.
  var isOpen: Bool { get }
  /// Looks whether it was lost while nobody used it, without a round trip as long as the engine has sent
  /// nothing meanwhile.
  func isAlive() -> Bool
  /// Why it was lost; nil where it wasn't.
  var lossError: DatabaseError? { get }
  /// Whether a transaction is open, also one that an error has aborted.
  var hasTransaction: Bool { get }
  var isReadOnly: Bool { get }
  /// How many parameters a statement may have.
  var variableLimit: Int { get }
  /// What stops the statement that runs, from any thread.
  var interrupts: InterruptHandle { get }
  /// Compiles a statement, whose parameters are written as in SQLite (`?`, `:name`) or as the engine does.
  ///
  /// - Parameter deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func prepare(_ sql: String, until deadline: Duration?) throws -> any EngineStatement
  /// Throws where a statement isn't valid, and doesn't run it.
  func validate(_ sql: String, until deadline: Duration?) throws
  /// The statements of a text with several.
  func statements(in sql: String) -> [String]
  /// How its catalog is asked.
  var catalog: EngineCatalog { get }
  /// Begins or ends a transaction or a scope's savepoint.
  ///
  /// - Parameters:
  ///   - isScopes: whether what begins is all of a scope, behind which the session is to be as it was when it began.
  ///   - deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func execute(_ control: TransactionControl, isScopes: Bool, until deadline: Duration?) throws
  /// Leaves the session as it was when it began, where that isn't done yet; closes the connection where that fails.
  func endScope()
  /// Has the transaction that has just begun wait, until it is the only one of all that wait so. Does nothing where the
  /// engine has nothing for that.
  ///
  /// - Parameter deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func waitForTurn(until deadline: Duration?) throws
  /// Notes that a row was written with a key of its own in a column for which the engine has numbers: once that is
  /// committed, they go on behind it.
  func noteKey(_ key: Int64, of column: String, in table: String) throws
  /// Has the numbers of a column go on behind keys that were written in the transaction, as far as they are in the way
  /// of the next.
  func passKeys(of column: String, in table: String) throws
  /// Has a statement without rows travel with the next one, in a transaction. Its failure is that one's, too.
  func putOff(_ sql: String) throws
  /// Has whoever else migrates wait until the end of the transaction, which has just begun. Where somebody else migrates
  /// its first statement throws `sqlState` 22012, and ``waitForMigration(inTransaction:)`` is to be called.
  func beginMigration() throws
  /// Waits until nobody else migrates, and then has them wait: until the end of the transaction, which sees what they
  /// have done; or, outside of one, until ``endMigration(restoring:inTransaction:)``.
  func waitForMigration(inTransaction: Bool) throws
  /// Sets back what a migration may have set for the whole connection: the path to its schemas.
  func endMigration(restoring searchPath: String, inTransaction: Bool) throws
  /// Makes, or cleans, the tables that the engine keeps for itself: before each run of migrations.
  func makeBookkeeping() throws
  /// Closes it. Does nothing in a process that was forked.
  func close()
}

/// The queries that ask an engine's catalog for what SQLite is asked for by PRAGMAs. Texts are in the
/// server's own words, in which it writes the same expression always in the same way.
package struct EngineCatalog: Sendable {
  /// Whether there is a table of this name in the first schema of the path: one parameter, one Bool.
  package let tableExists: String
  /// Whether a table has a column: two parameters, one Bool.
  package let columnExists: String
  /// The tables, views, indexes and triggers of the first schema of the path: kind, name, table, statement
  /// (nil for tables).
  package let entries: String
  /// What a name means in statements: one parameter, a row with a number for the queries below, and whether it
  /// is a table rather than a view; no row where there is nothing.
  package let relation: String
  /// The same of a table of the first schema of the path alone.
  package let table: String
  /// The columns of a relation: name, type, collation, NOT NULL, default, expression that it is generated by,
  /// place in the primary key, what makes it number its rows, and all of that as a definition.
  package let columns: String
  /// The constraints but for foreign keys: name, kind (`c`, `p`, `u` or another), definition, expression of a
  /// CHECK, and its column if it is of one.
  package let constraints: String
  /// The foreign keys, a row for each column: name, other table, actions of UPDATE and DELETE, whether deferred,
  /// column, column of the other table, definition.
  package let foreignKeys: String
  /// The indexes, a row for each term: name, kind (as `IndexSchema.Kind`), whether unique, condition, statement,
  /// column if it is one, term.
  package let indexes: String

  package init(
    tableExists: String, columnExists: String, entries: String, relation: String, table: String,
    columns: String, constraints: String, foreignKeys: String, indexes: String
  ) {
    self.tableExists = tableExists
    self.columnExists = columnExists
    self.entries = entries
    self.relation = relation
    self.table = table
    self.columns = columns
    self.constraints = constraints
    self.foreignKeys = foreignKeys
    self.indexes = indexes
  }
}
