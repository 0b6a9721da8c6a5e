import CSQLite

/// The commit, rollback and update hooks of a connection. SQLite has room for one of each, so all users
/// share it. A hook is installed once somebody needs it.
///
/// SQLite keeps an unretained pointer to this object: the connection keeps the object as long as the handle.
/// See [Commit And Rollback Notification Callbacks](https://www.sqlite.org/c3ref/commit_hook.html) and
/// [Data Change Notification Callbacks](https://www.sqlite.org/c3ref/update_hook.html).
final class ConnectionHooks {
  /// Called before each commit.
  var willCommit: (() -> Void)?
  /// Called when a transaction is rolled back as a whole.
  var hasRolledBack: (() -> Void)?
  /// The program's own closures, by number. A token may be given back on any thread.
  let closures = Lock(Closures())
  /// The reason that a closure gave for refusing a commit.
  private var refusal: String?
  /// Called with true while closures run: a hook mustn't use its connection. Nil until there is a closure.
  var isRunning: ((Bool) -> Void)?

  /// The program's own tokenizers; nil if there are none.
  var tokenizers: Tokenizers?
  /// The object that makes collations on demand, if there is one; retained on SQLite's behalf.
  var collations: AnyObject?
  /// The names of the program's own table-valued functions and modules.
  var tables: Set<[UInt8]> = []

  struct Closures {
    var last = 0
    var onCommit: [Int: @Sendable () throws -> Void] = [:]
    var onRollback: [Int: @Sendable () -> Void] = [:]
    /// Called with SQLite's number of the operation, the table's name, and the row's id.
    var onUpdate: [Int: @Sendable (Int32, String, Int64) -> Void] = [:]
  }

  func takeRefusal() -> String? { refusal.take() }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func hooks(_ context: UnsafeMutableRawPointer?) -> ConnectionHooks? {
    context.map { Unmanaged<ConnectionHooks>.fromOpaque($0).takeUnretainedValue() }
  }

  func installCommitHook(on handle: OpaquePointer) {
    sqlite3_commit_hook(handle, { ConnectionHooks.hooks($0)?.commit() ?? 0 }, context)
  }

  func installRollbackHook(on handle: OpaquePointer) {
    sqlite3_rollback_hook(handle, { ConnectionHooks.hooks($0)?.rollBack() }, context)
  }

  func installUpdateHook(on handle: OpaquePointer) {
    sqlite3_update_hook(
      handle,
      { context, operation, _, table, rowID in
        guard let hooks = ConnectionHooks.hooks(context), let table else { return }
        hooks.update(operation, table, rowID)
      }, context)
  }

  private func commit() -> Int32 {
    do {
      // Without closures the lock isn't taken: commits that share a sync come here too.
      if isRunning != nil { try call(closures.withLock { $0.onCommit }) { try $0() } }
    } catch {
      refusal = "a hook refused the commit: \(error)"
      return 1
    }
    willCommit?()
    return 0
  }

  private func rollBack() {
    hasRolledBack?()
    if isRunning != nil { call(closures.withLock { $0.onRollback }) { $0() } }
  }

  private func update(
    _ operation: Int32, _ table: UnsafePointer<CChar>, _ rowID: Int64
  ) {
    let closures = closures.withLock { $0.onUpdate }
    guard !closures.isEmpty else { return }
    let table = String(cString: table)
    call(closures) { $0(operation, table, rowID) }
  }

  /// Calls closures in the order in which they were added.
  private func call<Closure>(
    _ closures: [Int: Closure], _ body: (Closure) throws -> Void
  ) rethrows {
    guard !closures.isEmpty else { return }
    isRunning?(true)
    defer { isRunning?(false) }
    for (_, closure) in closures.sorted(by: { $0.key < $1.key }) { try body(closure) }
  }
}
