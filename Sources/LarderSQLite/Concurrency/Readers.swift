import Dispatch

/// A connection of a pool that reads.
///
/// What makes it Sendable: it belongs to one scope at a time.
final class Reader: @unchecked Sendable {
  let database: Database
  let runner = JobRunner()

  init(_ location: FileLocation?, configuration: Configuration) throws {
    guard let location else { throw DatabaseError(.cannotOpen, "only files have readers") }
    var configuration = configuration
    configuration.readOnly = true
    database = try Database(at: location, configuration: configuration)
    database.connection.leave()
  }
}

/// The connections that read, up to a number of them, and the line of those who want one.
final class Readers: Sendable {
  private let location: FileLocation?
  private let configuration: Configuration
  private let state = Lock(State())
  let line: Line
  private let worker = DispatchQueue(label: "larder.readers", attributes: .concurrent)

  private struct State {
    var idle: [Reader] = []
    var busyCount = 0
    var isClosed = false
    /// Who waits for the busy ones to come back.
    var closing: [DispatchSemaphore] = []
  }

  init(_ location: FileLocation?, configuration: Configuration) {
    self.location = location
    self.configuration = configuration
    line = Line(timeout: configuration.scopeTimeout, purpose: "a reader to become free")
  }

  var counts: ConnectionCounts {
    state.withLock { ConnectionCounts(idle: $0.idle.count, busy: $0.busyCount) }
  }

  /// Runs a body on a reader, and waits for one if all are busy.
  func perform<T>(_ scope: Scope, _ body: (Database) throws -> T) throws -> T {
    if let reader = try take(orLineUp: nil) { return try run(reader, scope, body) }
    // The job only waits in the line: this thread runs the body itself.
    let job = Job(.read, scope) { _ in }
    if let reader = try take(orLineUp: job) { return try run(reader, scope, body) }
    if line.wait(for: job, spins: 0) == .finished { try job.outcome.get() }
    return try run(try job.reader ?? open(), scope, body)
  }

  /// Has the job run on another thread when a reader is free.
  func submit(_ job: Job) {
    do {
      guard let reader = try take(orLineUp: job) else { return }
      line.change { _ in job.reader = reader }
      dispatch(job)
    } catch {
      job.finish(.failure(error))
    }
  }

  private func dispatch(_ job: Job) {
    worker.async {
      job.finish(
        Result {
          let reader = try job.reader ?? self.open()
          self.line.change { _ in job.reader = reader }
          try self.run(reader, job.scope) { try reader.runner.call(job, $0) }
        })
    }
  }

  /// Takes an asynchronous job out of the line, or interrupts it.
  func cancel(_ job: Job) {
    job.isCancelled.store(true, ordering: .relaxed)
    let (isOut, reader) = line.change { ($0.remove(job), job.reader) }
    if isOut { job.finish(.failure(CancellationError())) }
    if let reader { reader.runner.interrupt(job, reader.database.connection) }
  }

  private func run<T>(
    _ reader: Reader, _ scope: Scope, _ body: (Database) throws -> T
  ) throws -> T {
    defer { giveBack(reader) }
    return try reader.database.runScope(scope, .read, body)
  }

  /// A reader that is idle or new; nil if there can be no more, and the job is in the line then.
  private func take(orLineUp job: Job?) throws -> Reader? {
    enum Answer {
      case reader(Reader)
      case open, wait, closed
    }
    let answer = line.change { waiting in
      state.withLock { state in
        if state.isClosed { return Answer.closed }
        if let reader = state.idle.popLast() {
          state.busyCount += 1
          return .reader(reader)
        }
        if state.busyCount < max(1, configuration.maximumReaders) {
          state.busyCount += 1
          return .open
        }
        if let job { waiting.append(job) }
        return .wait
      }
    }
    switch answer {
    case .reader(let reader): return reader
    case .wait: return nil
    case .closed: throw DatabaseError(.misuse, "the pool is closed")
    case .open: return try open()
    }
  }

  /// Opens a reader whose place is taken already; on failure the next in the line may try.
  private func open() throws -> Reader {
    do {
      return try Reader(location, configuration: configuration)
    } catch {
      giveBack(nil)
      throw error
    }
  }

  /// Gives a reader (nil: one that could not be opened) to the first in the line, or keeps it.
  private func giveBack(_ reader: Reader?) {
    enum Answer {
      case next(Job)
      case close([DispatchSemaphore])
      case closeReader(Reader)
      case done
    }
    let answer = line.change { waiting in
      state.withLock { state in
        if !state.isClosed {
          if let job = waiting.popFirst() {
            job.reader = reader
            return Answer.next(job)
          }
          if let reader { state.idle.append(reader) }
        } else if let reader {
          return .closeReader(reader)
        }
        state.busyCount -= 1
        return state.isClosed && state.busyCount == 0 ? .close(state.closing) : .done
      }
    }
    switch answer {
    case .next(let job):
      if job.isAsynchronous { dispatch(job) } else { job.lead() }
    case .close(let semaphores):
      for semaphore in semaphores { semaphore.signal() }
    case .closeReader(let reader):
      // Before it counts as gone: the writer is to be the last.
      reader.database.closeEverything()
      giveBack(nil)
    case .done: break
    }
  }

  /// Closes the readers that are idle.
  func releaseIdle() {
    let released = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for reader in released { reader.database.closeEverything() }
  }

  /// Lets nobody in any more, and waits for those who read. Where that takes longer than a scope may
  /// wait, one of them may be waiting for this call: then it throws, and the pool stays open.
  func close() throws {
    let semaphore = DispatchSemaphore(value: 0)
    let (refused, mustWait) = line.change { waiting in
      state.withLock { state in
        state.isClosed = true
        if state.busyCount > 0 { state.closing.append(semaphore) }
        return (waiting.removeAll { _ in true }, state.busyCount > 0)
      }
    }
    for job in refused { job.finish(.failure(DatabaseError(.misuse, "the pool is closed"))) }
    releaseIdle()
    guard mustWait, semaphore.wait(timeout: .now() + line.timeout.dispatchInterval) != .success
    else { return }
    let isOver = state.withLock { state in
      if state.busyCount > 0 { state.isClosed = false }
      state.closing.removeAll { $0 === semaphore }
      return !state.isClosed
    }
    if isOver {
      throw DatabaseError(
        .busy, "\(Line.timeoutMessage) than \(line.timeout) for the readers that are in use")
    }
  }

  /// Lets others in again, after the writer could not be closed.
  func reopen() { state.withLock { $0.isClosed = false } }
}

/// How many connections of a pool read.
public struct ConnectionCounts: Hashable, Sendable {
  /// Open, and not in use.
  public let idle: Int
  /// In use.
  public let busy: Int
  /// Open altogether.
  public var open: Int { idle + busy }
}
