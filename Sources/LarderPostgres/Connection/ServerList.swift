import LarderSQLite
import Synchronization

/// The servers of an address, from which it connects to one: the primary, or a standby.
///
/// The server that answered last is asked first, and each has its share of the time. So a server whose
/// machine has silently gone holds up one attempt, and not all.
final class ServerList: Sendable {
  let servers: [ServerAddress]
  /// The kinds of server that are wanted, one after the other (`target_session_attrs`); nil for any.
  private let targets: [String?]
  private let preferred = Atomic<Int>(0)
  private let keeping = StatementKeeping()
  private let hasFailed = Atomic<Bool>(false)
  let figures = ServerFigures()
  /// The tables that observed values have read.
  let tables = ObservedTables()

  /// Reads an address. If it names several servers and no kind, a writable one is wanted.
  init(_ address: String) throws {
    let address = try ServerAddress(address)
    servers = try address.servers
    let wanted = address.target ?? (servers.count > 1 ? "read-write" : nil)
    // libpq gets one server at a time, so that it would never come to `any`.
    targets = wanted == "prefer-standby" ? ["standby", "any"] : [wanted]
  }

  /// A list of one server, which has to be a standby.
  init(standby server: ServerAddress) {
    servers = [server]
    targets = ["standby"]
  }

  /// The servers and the database, for errors and the trace. Nothing of it is a secret.
  var places: String { servers.map(\.places).joined(separator: ", ") }

  /// Connects to the first server of the kind. The deadline is in nanoseconds of `MonotonicClock`.
  func connect(
    _ configuration: PostgresConfiguration, interrupts: PostgresInterrupt? = nil, deadline: Int
  ) throws -> PostgresConnection {
    figures.noteConnecting()
    do {
      let connection = try connectToAny(deadline) { [keeping] address, limit in
        try PostgresConnection(
          address, configuration, interrupts: interrupts, keeping: keeping, deadline: limit)
      }
      hasFailed.store(false, ordering: .relaxed)
      return connection
    } catch {
      hasFailed.store(true, ordering: .relaxed)
      if let failure = error as? PostgresFailure { figures.noteFailure(failure, at: places) }
      throw error
    }
  }

  /// Whether the last attempt could connect to no server.
  var isFailing: Bool { hasFailed.load(ordering: .relaxed) }

  /// Connects to the first server of the kind by a closure, which gets its address and its share of the time.
  func connectToAny<Connection>(
    _ deadline: Int, _ connect: (ServerAddress, Int) throws -> Connection
  ) throws -> Connection {
    var failures: [PostgresFailure] = []
    let first = preferred.load(ordering: .relaxed)
    var left = targets.count * servers.count
    for target in targets {
      for offset in servers.indices {
        let index = (first + offset) % servers.count
        let address = target.map { servers[index].wanting($0) } ?? servers[index]
        let now = MonotonicClock.nanoseconds
        let limit = now + max(0, deadline - now) / left
        left -= 1
        do {
          let connection = try connect(address, limit)
          preferred.store(index, ordering: .relaxed)
          figures.noteConnected(to: address.name)
          return connection
        } catch let failure as PostgresFailure {
          // Another server is asked only if it may not fail for the same reason.
          guard failure.isElsewhere, left > 0 else { throw Self.failure(failures + [failure]) }
          failures.append(failure)
        }
      }
    }
    throw Self.failure(failures)
  }

  /// The failure of all servers: their messages, with the code of the most specific one. A server may be
  /// starting just now.
  private static func failure(_ failures: [PostgresFailure]) -> PostgresFailure {
    guard
      var failure = failures.last(where: { $0.sqlState != SQLState.cannotConnect }) ?? failures.last
    else { return PostgresFailure(SQLState.cannotConnect, "the address names no server") }
    if failures.count > 1 { failure.message = failures.map(\.message).joined(separator: "; ") }
    return failure
  }
}

extension PostgresFailure {
  /// Whether another server may accept the connection: this one doesn't answer, is starting or stopping, has
  /// too many connections, or is of another kind. A wrong password or name is wrong everywhere.
  fileprivate var isElsewhere: Bool {
    [SQLState.cannotConnect, SQLState.connectionFailure, "57P03", "57P01", "57P02", "53300"]
      .contains(sqlState)
  }
}
