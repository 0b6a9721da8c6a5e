import CLibPQ
import Glibc
import LarderSQLite

/// A slot of a server that decodes its log: the place from which it sends commits.
struct ReplicationSlot: Sendable {
  var name: String
  var position: UInt64
  /// The name of the snapshot after which the slot begins, if it was exported.
  var snapshot = ""

  /// Reads a position as the server writes it, `16/B374D848`.
  static func position(_ text: String) -> UInt64? {
    let parts = text.split(separator: "/").map { UInt64($0, radix: 16) }
    guard parts.count == 2, let high = parts[0], let low = parts[1] else { return nil }
    return high << 32 | low
  }
}

extension ServerList {
  /// Connects to the first server of the kind, for its log.
  func connectForLog(
    _ configuration: PostgresConfiguration, _ interrupts: PostgresInterrupt,
    isAbandoned: @escaping @Sendable () -> Bool
  ) throws -> ReplicationConnection {
    let deadline = (MonotonicClock.now + configuration.connectTimeout).inNanoseconds
    let connection = try connectToAny(deadline) { address, limit in
      try ReplicationConnection(
        address, interrupts: interrupts, isAbandoned: isAbandoned, deadline: limit)
    }
    let timeout = try connection.run(
      "SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'")
    connection.noteTimeout(milliseconds: timeout.first?.first?.flatMap { Int($0) } ?? 0)
    return connection
  }
}

extension ReplicationConnection {
  /// Makes a temporary slot, which ends with the connection. Waits for the transactions that are open.
  func makeSlot(exporting: Bool) throws -> ReplicationSlot {
    let name = "larder_\(UInt32.random(in: 0...UInt32.max))_\(getpid())"
    let kind = exporting ? "EXPORT_SNAPSHOT" : "NOEXPORT_SNAPSHOT"
    let row = try run("CREATE_REPLICATION_SLOT \(name) TEMPORARY LOGICAL pgoutput \(kind)")
    guard let found = row.first, found.count >= 3,
      let position = found[1].flatMap(ReplicationSlot.position)
    else { throw PostgresFailure(SQLState.wrongState, "the server has made no slot") }
    return ReplicationSlot(name: name, position: position, snapshot: found[2] ?? "")
  }

  /// Waits until all transactions have ended that an exported snapshot takes for committed.
  ///
  /// The server makes that snapshot of its log, in which a commit stands a little before the server itself takes the
  /// transaction for committed. Who reads in between takes its rows for those of one that was rolled back, and notes
  /// that in the table: they are lost for everybody. (Under load this happened about once in a thousand beginnings,
  /// with PostgreSQL 15.) So no table is read before.
  func awaitCommits(in exported: ServerSnapshot) throws {
    try awaitSnapshot { !$0.isBehind(exported) }
  }

  /// Waits until all transactions have ended that run now: their commits may stand in the log before the slot begins,
  /// while nobody sees them.
  func awaitRunning() throws {
    // A snapshot lists those that run before the last one that has ended. So one ends that is later than all of them.
    try run("SELECT pg_catalog.pg_current_xact_id()")
    let now = try currentSnapshot()
    try awaitSnapshot { !$0.hasRunning(of: now) }
  }

  private func awaitSnapshot(_ isReached: (ServerSnapshot) -> Bool) throws {
    var pause = Duration.milliseconds(1)
    while try !isReached(currentSnapshot()) {
      BusyHandler.sleep(pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  private func currentSnapshot() throws -> ServerSnapshot {
    try ServerSnapshot(run("SELECT \(ServerSnapshot.current)").first?.first ?? nil)
  }

  /// Begins to receive what publications have.
  func startReceiving(
    _ slot: String, from position: UInt64, _ publications: [String]
  ) throws {
    let place = [position >> 32, position & 0xFFFF_FFFF]
      .map { String($0, radix: 16, uppercase: true) }.joined(separator: "/")
    let names = publications.map(\.quotedIdentifier).joined(separator: ",").quotedText
    try startCopy(
      "START_REPLICATION SLOT \(slot) LOGICAL \(place) "
        + "(proto_version '1', publication_names \(names), binary 'true')")
  }
}
