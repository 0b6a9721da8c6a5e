/// A connection of another engine than SQLite: what a ``Database`` needs of one. Threads, scopes, the
/// statement cache and result sets are the same for all engines and stay above it.
///
/// It has one user at a time. What it throws is ``DatabaseError``, with the engine's name.
package protocol EngineConnection: AnyObject {
  /// The engine's name, for errors.
  var name: String { get }
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
  func prepare(_ sql: String) throws -> any EngineStatement
  /// The statements of a text with several.
  func statements(in sql: String) -> [String]
  /// How its catalog is asked.
  var catalog: EngineCatalog { get }
  /// Begins or ends a transaction or a scope's savepoint.
  func execute(_ control: TransactionControl) throws
  /// Has whoever else migrates wait until the end of the transaction, which has just begun, and which then
  /// sees what they have done.
  func lockMigrations() throws
  /// Closes it. Does nothing in a process that was forked.
  func close()
}

/// The queries that ask an engine's catalog for what SQLite is asked for by PRAGMAs.
package struct EngineCatalog: Sendable {
  /// Whether there is a table of this name: one parameter, one Bool.
  package let tableExists: String
  /// Whether a table has a column: two parameters, one Bool.
  package let columnExists: String
  /// The names of a table's indexes: one parameter, one text a row.
  package let indexNames: String

  package init(tableExists: String, columnExists: String, indexNames: String) {
    self.tableExists = tableExists
    self.columnExists = columnExists
    self.indexNames = indexNames
  }
}
