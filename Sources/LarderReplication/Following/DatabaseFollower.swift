import Dispatch
import FoundationEssentials
import Glibc
import LarderSQLite

/// A copy of a database that follows its log, in another process or on another machine: a read-only database that is
/// about an interval behind what was shipped.
///
/// ```swift
/// let copy = try DatabaseFollower(of: .folder("/mnt/backup"), to: "copy.db")
/// let count = try copy.read { try $0.value("SELECT count(*) FROM city", as: Int.self) }
/// ```
///
/// Each commit of the log becomes one of the copy: reads see the database as it was at one of the log's positions,
/// each read its own, and don't wait. Scopes that write throw `ResultCode.readOnly`.
///
/// The position is kept beside the copy, in the file `PATH-followed`. When the process begins anew, the copy goes on
/// from there. If the log has begun anew, or what follows was merged, the pages that differ are fetched from a whole
/// copy; readers see that as one commit, too.
///
/// It follows until ``close()``, or until it is gone. Nobody else may write to its file.
public final class DatabaseFollower: DatabaseAccess {
  /// The readers.
  @_documentation(visibility: internal)
  public let connections: Connections
  private let worker: LogFollower

  /// Opens the copy, which is restored first if there is no file.
  ///
  /// - Parameters:
  ///   - sink: the place that the log is in.
  ///   - name: the database's name there; nil if there is only one.
  ///   - path: the path of the copy's file.
  ///   - interval: how often to look for new segments.
  ///   - configuration: how to open the copy, with its key.
  /// - Throws: what ``ReplicatedDatabase/restore(from:name:to:at:check:configuration:)`` does.
  public init(
    of sink: some LogSink, name: String? = nil, to path: String,
    every interval: Duration = .seconds(1), configuration: Configuration = .init()
  ) throws {
    guard interval > .zero else {
      throw DatabaseError(.misuse, "the interval between looks has to be positive")
    }
    let prefix = try ReplicatedDatabase.prefix(in: sink, name)
    worker = LogFollower(sink, prefix, path, configuration)
    try worker.open()
    do {
      var reading = configuration
      reading.readOnly = true
      connections = try DatabasePool(path: path, configuration: reading).connections
    } catch {
      worker.close()
      throw error
    }
    worker.begin(every: interval)
  }

  deinit {
    worker.close()
    try? connections.close()
  }

  /// The position that reads see at least.
  public var position: ReplicatedDatabase.Position { worker.position }

  /// The error of the last attempt to go on; nil if that went well. It is tried again.
  public var error: (any Error)? { worker.error }

  /// Runs a closure that reads, as `read` does, and sees at least everything that was committed at a position, such
  /// as one that ``ReplicatedDatabase/ship(within:)-l06q`` has returned.
  ///
  /// Throws what `read` does, and `ResultCode.busyTimeout` if the copy isn't there within the limit.
  public func read<T>(
    notBefore position: ReplicatedDatabase.Position, within limit: Duration = .seconds(30),
    label: StaticString = #function, line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    let waiter = worker.waiter(for: position)
    guard waiter.wait(within: limit), self.position >= position else {
      worker.forget(waiter)
      throw worker.lateError(position)
    }
    return try connections.performSeldom(.read, ScopeCall(label, line), body)
  }

  /// Async variant, in which no thread waits. Cancelling the task throws `CancellationError`.
  public func read<T: Sendable>(
    notBefore position: ReplicatedDatabase.Position, within limit: Duration = .seconds(30),
    label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let waiter = worker.waiter(for: position)
    if self.position < position {
      DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) {
        [weak waiter] in waiter?.resume()
      }
    }
    await withTaskCancellationHandler {
      await waiter.wait()
    } onCancel: {
      waiter.resume()
    }
    worker.forget(waiter)
    try Task.checkCancellation()
    guard self.position >= position else { throw worker.lateError(position) }
    return try await connections.performOnPrimary(.read, ScopeCall(label, line), body)
  }

  /// Ends following, and closes the connections. The copy stays as it is.
  public func close() throws {
    try connections.close()
    worker.close()
  }
}
