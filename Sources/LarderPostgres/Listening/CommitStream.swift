import Dispatch
import LarderSQLite
import Synchronization

/// A connection on which the server tells which tables commits have written to, with a thread of its own. If
/// it is lost, it is made again. The slot is temporary, so that no log is kept for it without a connection.
///
/// It has the tables that were wanted when its slot was made. For others, another stream takes its place: a
/// server that decodes a transaction from before a publication had a table would leave that table out.
final class CommitStream: Sendable {
  private let owner: DecodedCommits
  private let servers: ServerList
  private let configuration: PostgresConfiguration
  private let interrupts: PostgresInterrupt
  private let hasEnded = Atomic<Bool>(false)

  /// How long the thread leaves further messages unread after some: waking for each commit would take time
  /// that writers need.
  private static let pause = 5_000_000
  /// How long a connection lasts at least whose loss isn't counted as one more failure, in nanoseconds.
  private static let shortest = 10_000_000_000
  /// How many failures in a row that aren't outages end the stream.
  private static let mostFailures = 4

  init(
    _ owner: DecodedCommits, _ servers: ServerList, _ configuration: PostgresConfiguration
  ) throws {
    self.owner = owner
    self.servers = servers
    self.configuration = configuration
    interrupts = try PostgresInterrupt()
  }

  func start() {
    DispatchQueue(label: "larder.commits").async { self.run() }
  }

  func end() {
    hasEnded.store(true, ordering: .releasing)
    interrupts.wake()
  }

  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  func deliver(_ commits: [LoggedCommit]) {
    owner.note(commits)
    interrupts.wait(nanoseconds: Self.pause)
  }

  // MARK: The thread

  private func run() {
    var (outages, failures) = (0, 0)
    while !isEnded {
      let start = MonotonicClock.nanoseconds
      do {
        try follow()
      } catch {
        if isEnded { break }
        if MonotonicClock.nanoseconds - start > Self.shortest { (outages, failures) = (0, 0) }
        let known = (error as? PostgresFailure).map { DatabaseError($0) } ?? error
        let state = (known as? DatabaseError)?.sqlState
        // A server whose slots or connections for its log are all in use may have none for long.
        let isOutage =
          (known as? DatabaseError).map(SQLState.isTransient) == true && state != "53300"
        outages += 1
        failures = isOutage ? 0 : failures + 1
        if error is CommitsUnavailable || failures >= Self.mostFailures {
          return owner.fail(known)
        }
        owner.noteLoss(of: self, known)
        let longest = min(500, 20 << min(outages, 6))
        interrupts.wait(nanoseconds: Int.random(in: 10...longest) * 1_000_000)
      }
    }
  }

  /// Connects, makes a slot, and receives until the stream or the connection ends.
  private func follow() throws {
    let connection = try servers.connectForLog(configuration, interrupts) { [weak self] in
      self?.isEnded ?? true
    }
    defer { connection.close() }
    try check(connection)
    let wanted = owner.prepare(self)
    let published = try TablePublications(of: wanted, on: connection)
    // After the publications were made: it waits for the transactions that don't see them.
    var position: UInt64 = 0
    if !published.tables.isEmpty {
      let slot = try connection.makeSlot(exporting: false)
      try connection.startReceiving(slot.name, from: slot.position, published.names.sorted())
      position = slot.position
    }
    guard try owner.begin(self, wanted, published.tables) else { return end() }
    var consumer = CommittedTables(self, from: position)
    if published.tables.isEmpty { return end() }
    var receiving = FeedReceiving<CommittedTables>(connection)
    try receiving.run(&consumer)
  }

  /// Throws if the server doesn't decode its log, or if it isn't advisable to have it do so.
  private func check(_ connection: ReplicationConnection) throws {
    let rows = try connection.run(
      """
      SELECT current_setting('wal_level'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'), pg_catalog.pg_is_in_recovery()
      """)
    guard let row = rows.first, row.count == 4 else { return }
    guard row[0] == "logical" else {
      throw CommitsUnavailable(
        "its wal_level is \(row[0] ?? ""): ALTER SYSTEM SET wal_level = 'logical', and restart it")
    }
    // The connection would count as a standby, for which commits wait.
    guard row[2]?.contains("*") != true else {
      throw CommitsUnavailable(
        "its synchronous_standby_names doesn't name the standbys: \(row[2] ?? "")")
    }
    // What isn't on disk yet isn't decoded.
    guard row[1] != "off" || configuration.commitSource == .log else {
      throw CommitsUnavailable("its synchronous_commit is off")
    }
    guard row[3] == "f" else { throw CommitsUnavailable("it is a standby") }
  }
}

/// Why a server isn't asked to decode its log for observed values.
struct CommitsUnavailable: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
