import Dispatch
import Glibc
import Larder
import LarderSQLite

/// The connection of a pool that listens for notifications, for as long as anybody wants them: the consumers
/// of `notifications(on:)`, and the observers of values.
///
/// A thread of its own waits for the server. After a lost connection it connects again, with back-off, listens
/// again, and then tells everybody that notifications may have been missed.
///
/// See [LISTEN](https://www.postgresql.org/docs/current/sql-listen.html).
final class ServerListener: Sendable {
  /// What a subscriber is told, in order.
  enum Event {
    /// The connection listens from now on; notifications before that are missed. Told again after each
    /// reconnection.
    case listening
    case payloads([String])
    /// Tables to which commits have written, as the server's log tells observers of values.
    case touched(Set<UInt32>)
    /// The subscription has ended.
    case failed(any Error)
    case closed
  }

  private struct Subscriber {
    let channel: String
    let receive: @Sendable (Event) -> Void
    /// The time until which a first connection is tried, in nanoseconds of the ``MonotonicClock``.
    let patience: Int
    /// Whether the connection has ever listened for it.
    var hasListened = false
    /// Whether the present connection listens for it.
    var isListening = false
    /// Whether it waits for signals, which nobody sends otherwise.
    var isWaiting = false
  }

  private struct State {
    var lastID = 0
    var subscribers: [Int: Subscriber] = [:]
    var isRunning = false
    var isClosed = false
    var interrupts: PostgresInterrupt?
  }

  /// The tables that values have read.
  let tables: ObservedTables
  private let servers: ServerList
  private let configuration: PostgresConfiguration
  private let state = Lock(State())
  private let generation = ProcessGeneration.watch()
  let observers = Lock(ServerObservers())
  /// The commits that the server's log tells observers of; nil if triggers do.
  let decoded: DecodedCommits?

  init(_ servers: ServerList, _ configuration: PostgresConfiguration) {
    self.servers = servers
    self.configuration = configuration
    tables = servers.tables
    decoded =
      configuration.commitSource == .triggers ? nil : DecodedCommits(servers, configuration)
    tables.coverage = decoded
    tables.signals = self
  }

  // MARK: Subscribers

  /// Adds a subscriber to a channel, and returns its number. The closure is called on the listener's thread,
  /// with `failed` or `closed` at last.
  ///
  /// Throws if the pool is closed, or a channel can't have this name.
  func subscribe(
    to channel: String, _ receive: @escaping @Sendable (Event) -> Void
  ) throws -> Int {
    guard isOfThisProcess else {
      throw DatabaseError(.misuse, "a forked process can't use its parent's connections")
    }
    guard (1...63).contains(channel.utf8.count), !channel.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a channel's name has 1 to 63 bytes", engine: Self.engine)
    }
    let limit = (configuration.retryLimit ?? .zero).bounded
    let (id, starts) = try state.withLock { state in
      guard !state.isClosed else { throw DatabaseError(.misuse, "the pool is closed") }
      if state.interrupts == nil {
        state.interrupts = try DatabaseError.converting { try PostgresInterrupt() }
      }
      state.lastID += 1
      state.subscribers[state.lastID] = Subscriber(
        channel: channel, receive: receive, patience: (MonotonicClock.now + limit).inNanoseconds)
      defer { state.isRunning = true }
      return (state.lastID, !state.isRunning)
    }
    if starts {
      DispatchQueue(label: "larder.listening").async { self.run() }
    } else {
      wake()
    }
    return id
  }

  /// Removes a subscriber, which is told nothing any more but what is on its way already.
  func unsubscribe(_ id: Int) {
    guard isOfThisProcess else { return }
    if state.withLock({ $0.subscribers.removeValue(forKey: id) }) != nil { wake() }
  }

  /// Has signals sent to a subscriber from now on, or not any more.
  func wait(_ isWaiting: Bool, _ id: Int) {
    guard isOfThisProcess else { return }
    let hasChanged = state.withLock { state in
      defer { state.subscribers[id]?.isWaiting = isWaiting }
      return state.subscribers[id]?.isWaiting == !isWaiting
    }
    if hasChanged { wake() }
  }

  private static let engine = PostgresDefinitions.engine

  var isOfThisProcess: Bool { generation == ProcessGeneration.current }

  func wake() { state.withLock { $0.interrupts }?.wake() }

  /// Ends all subscriptions, and closes the connection.
  func close() {
    guard isOfThisProcess else { return }
    let (ended, interrupts) = state.withLock { state in
      state.isClosed = true
      defer { state.subscribers = [:] }
      return (Array(state.subscribers.values), state.interrupts)
    }
    decoded?.end()
    interrupts?.interrupt()
    for subscriber in ended { subscriber.receive(.closed) }
  }

  // MARK: The thread

  /// How long the thread leaves further notifications unread after some: waking for each commit would take
  /// time that writers need.
  private static let pause = 5_000_000
  /// The longest pause between two attempts to connect, in milliseconds.
  private static let longestPause = 500

  private func run() {
    var connection: PostgresConnection?
    var session: VisibilitySession?
    var channels: Set<String> = []
    var marks = WaitingMarks()
    var failures = 0
    var nextCheck = 0
    while let (wanted, waiting, interrupts) = next() {
      do {
        let listening = try connection ?? connect(interrupts)
        if connection == nil {
          (channels, marks) = ([], WaitingMarks())
          connection = listening
          session = VisibilitySession(listening, timeout: configuration.connectTimeout)
          decoded?.restart()
          nextCheck = MonotonicClock.nanoseconds + interval
        }
        if wanted != channels {
          try change(listening, from: channels, to: wanted)
          channels = wanted
        }
        noteListening(on: channels)
        try mark(waiting, &marks, listening)
        failures = 0
        // A wake-up may have come, and been taken, while the server was asked.
        guard isWanted(channels, waiting) else { continue }
        let due = min(nextCheck, decoded?.nextLook ?? .max, marks.nextTry)
        try listening.waitForInput(until: due)
        let hasCommits = try tellDecoded(session)
        if deliver(listening) || hasCommits { interrupts.wait(nanoseconds: Self.pause) }
        if MonotonicClock.nanoseconds >= nextCheck {
          try check(listening)
          nextCheck = MonotonicClock.nanoseconds + interval
        }
      } catch {
        if let connection { _ = deliver(connection) }
        (connection, session) = (nil, nil)
        failures += 1
        noteLoss(error, isFirst: failures == 1)
        let longest = min(Self.longestPause, 20 << min(failures, 6))
        interrupts.wait(nanoseconds: Int.random(in: 10...longest) * 1_000_000)
      }
    }
    connection?.close()
  }

  /// The channels that are wanted now. Nil if there are none, after which another subscriber begins anew.
  private func next() -> (channels: Set<String>, waiting: Set<String>, PostgresInterrupt)? {
    state.withLock { state in
      guard !state.subscribers.isEmpty, let interrupts = state.interrupts else {
        state.isRunning = false
        return nil
      }
      let all = state.subscribers.values
      return (
        Set(all.map(\.channel)), Set(all.filter(\.isWaiting).map(\.channel)), interrupts
      )
    }
  }

  private func isWanted(_ channels: Set<String>, _ waiting: Set<String>) -> Bool {
    state.withLock { state in
      let all = state.subscribers.values
      return Set(all.map(\.channel)) == channels
        && Set(all.filter(\.isWaiting).map(\.channel)) == waiting
    }
  }

  /// Shows others for which channels somebody waits.
  private func mark(
    _ waiting: Set<String>, _ marks: inout WaitingMarks, _ connection: PostgresConnection
  ) throws {
    connection.deadline = (MonotonicClock.now + configuration.connectTimeout).inNanoseconds
    let rung = try marks.update(waiting, on: connection)
    guard !rung.isEmpty else { return }
    let told = state.withLock { state in
      state.subscribers.values.filter { $0.isWaiting && rung.contains($0.channel) }
    }
    for subscriber in told { subscriber.receive(.listening) }
  }

  /// The time between two looks whether the connection is alive, in nanoseconds.
  private var interval: Int { configuration.listeningInterval.inNanoseconds }

  private func connect(_ interrupts: PostgresInterrupt) throws -> PostgresConnection {
    let deadline = MonotonicClock.now + configuration.connectTimeout
    let connection = try servers.connect(
      configuration, interrupts: interrupts, deadline: deadline.inNanoseconds)
    guard !connection.isPooled else {
      throw UnsupportedByEngine(
        engine: Self.engine, feature: "notifications through a pooler: connect to the server itself"
      )
    }
    connection.received = []
    return connection
  }

  private func change(
    _ connection: PostgresConnection, from old: Set<String>, to new: Set<String>
  ) throws {
    connection.deadline = (MonotonicClock.now + configuration.connectTimeout).inNanoseconds
    try connection.run(
      all: new.subtracting(old).sorted().map { "LISTEN \($0.quotedIdentifier)" }
        + old.subtracting(new).sorted().map { "UNLISTEN \($0.quotedIdentifier)" })
  }

  private func noteListening(on channels: Set<String>) {
    let told = state.withLock { state in
      var told: [Subscriber] = []
      for (id, subscriber) in state.subscribers
      where !subscriber.isListening && channels.contains(subscriber.channel) {
        state.subscribers[id]?.isListening = true
        state.subscribers[id]?.hasListened = true
        told.append(subscriber)
      }
      return told
    }
    for subscriber in told { subscriber.receive(.listening) }
  }

  /// Hands on what has arrived. Returns whether there was anything.
  private func deliver(_ connection: PostgresConnection) -> Bool {
    guard let received = connection.received, !received.isEmpty else { return false }
    connection.received = []
    var payloads: [String: [String]] = [:]
    for one in received { payloads[one.channel, default: []].append(one.payload) }
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers where subscriber.isListening {
      if let texts = payloads[subscriber.channel] { subscriber.receive(.payloads(texts)) }
    }
    return true
  }

  /// Sees whether the connection is alive, and whether the observed tables are what they were.
  private func check(_ connection: PostgresConnection) throws {
    connection.deadline = (MonotonicClock.now + configuration.connectTimeout).inNanoseconds
    guard let check = tables.check else {
      try connection.run("")
      return
    }
    if try connection.run(all: [check.sql])?.first == check.expected { return }
    decoded?.restart()
    tellObservers(.listening)
  }

  /// Tells observers of the commits that were decoded, and that this session sees. Returns whether there were
  /// any.
  private func tellDecoded(_ session: VisibilitySession?) throws -> Bool {
    guard let decoded, let session else { return false }
    let touched = try decoded.look(session)
    if touched?.isEmpty == true { return false }
    tellObservers(touched.map { .touched($0) } ?? .listening)
    return true
  }

  private func tellObservers(_ event: Event) {
    let told = state.withLock { state in
      state.subscribers.values.filter { $0.isListening && $0.channel == ChangeTriggers.channel }
    }
    for subscriber in told { subscriber.receive(event) }
  }

  /// Ends the subscriptions that can't begin. The others wait for the next connection.
  private func noteLoss(_ error: any Error, isFirst: Bool) {
    let known = (error as? PostgresFailure).map { DatabaseError($0) } ?? error
    let isTransient = (known as? DatabaseError).map(SQLState.isTransient) == true
    let now = MonotonicClock.nanoseconds
    let (failed, isLeft) = state.withLock { state in
      var failed: [Subscriber] = []
      for (id, subscriber) in state.subscribers {
        state.subscribers[id]?.isListening = false
        guard !subscriber.hasListened, !isTransient || now >= subscriber.patience else { continue }
        state.subscribers[id] = nil
        failed.append(subscriber)
      }
      return (failed, !state.subscribers.isEmpty)
    }
    for subscriber in failed { subscriber.receive(.failed(known)) }
    guard isFirst, isLeft else { return }
    _ = configuration.common.reporting(
      DatabaseError(
        .warning,
        "the connection that listens for notifications was lost, and is made again: \(known)",
        engine: Self.engine))
  }
}
