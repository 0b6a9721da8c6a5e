/// A connection of another engine than SQLite: what a ``Database`` needs of one. Threads, scopes, the
/// statement cache and result sets are the same for all engines and stay above it.
///
/// It has one user at a time. What it throws is ``DatabaseError``, with the engine's name.
package protocol EngineConnection: AnyObject {
  /// The engine's name, for errors.
  var name: String { get }
  /// False once it is closed or lost.
  var isOpen: Bool { get }
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
  /// Begins or ends a transaction or a scope's savepoint.
  func execute(_ control: TransactionControl) throws
  /// Closes it. Does nothing in a process that was forked.
  func close()
}

/// An error of a call that the engine behind a database has nothing for, such as a backup of SQLite's on a
/// server.
public struct UnsupportedByEngine: Error, Hashable, Sendable {
  /// The engine's name.
  public let engine: String
  /// What was called.
  public let feature: String

  package init(engine: String, feature: String) {
    self.engine = engine
    self.feature = feature
  }
}

extension UnsupportedByEngine: CustomStringConvertible {
  /// The engine and the feature.
  public var description: String { "\(engine) has no \(feature)" }
}

extension Connection {
  /// SQLite's handle, if it is open and this thread and process may use it. Throws ``UnsupportedByEngine``
  /// where the engine is another.
  func sqlite(_ feature: StaticString = #function) throws -> OpaquePointer {
    try check()
    guard let handle else {
      throw UnsupportedByEngine(engine: engine?.name ?? "", feature: "\(feature)")
    }
    return handle
  }

  /// Compiles a statement by another engine.
  func prepare(_ sql: String, by engine: any EngineConnection) throws -> PreparedStatement {
    try check()
    let kind = StatementKind(of: try SQLText(sql), from: 0)
    if case .scopeSavepoint = kind { throw Self.savepointError(sql) }
    return PreparedStatement(
      engine: try reporting { try engine.prepare(sql) }, sql: sql, kind: kind, connection: self)
  }

  static func savepointError(_ sql: String) -> DatabaseError {
    DatabaseError(
      .misuse, "the savepoint “\(TransactionControl.savepointName)” is the scopes' own", sql: sql)
  }

  /// Calls a closure whose errors the log is told of.
  func reporting<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      report(error)
      throw error
    }
  }
}

extension Database {
  /// A database behind which is another engine.
  ///
  /// - Parameter configuration: what of it isn't SQLite's own applies: the statement cache, the date format,
  ///   the trace and the log, deadlines.
  package convenience init(
    engine: any EngineConnection, path: String, configuration: Configuration
  ) {
    self.init(
      connection: Connection(engine: engine, configuration), path: path,
      configuration: configuration)
    statementDeadline = configuration.statementDeadline
  }

  /// The other engine's connection; nil for SQLite.
  package var engine: (any EngineConnection)? { connection.engine }
}
