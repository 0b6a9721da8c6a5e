import CLibPQ
import Glibc
import LarderSQLite

/// Uses what a server decodes of its log, message by message.
protocol LogConsumer {
  var isEnded: Bool { get }
  /// Whether it is behind, so that nothing more should be read.
  var isFull: Bool { get }
  /// Whether a part of a transaction has been taken, but not its end.
  var isInTransaction: Bool { get }
  /// Whether the server is to be told of a new position soon.
  var hasNews: Bool { get }
  /// The position up to which the server has sent everything.
  var received: UInt64 { get }
  /// Takes a message of the plugin `pgoutput`. Throws `ServerValueText.Malformed` if it can't be read.
  mutating func take(_ message: UnsafeRawBufferPointer) throws
  /// Called when everything that has arrived was taken.
  mutating func hasTakenAll()
  mutating func noteReceived(_ position: UInt64)
  /// The position up to which the server needn't send anything again.
  func takePosition() -> UInt64
}

/// One connection's part of a feed: receives messages, and tells the server how far the consumer has come.
///
/// See [Streaming Replication Protocol](https://www.postgresql.org/docs/current/protocol-replication.html).
struct FeedReceiving<Consumer: LogConsumer> {
  private let connection: ReplicationConnection
  /// When the server was told last, in nanoseconds of `MonotonicClock`, and which position.
  private var told: (time: Int, position: UInt64) = (0, 0)

  /// The requests for an answer since a time, in nanoseconds of `MonotonicClock`, that didn't get the position
  /// that the server waits for.
  private var requests = (count: 0, since: 0)
  /// When the server was asked last whether it stops, while nothing was read.
  private var asked = MonotonicClock.nanoseconds

  /// How long the server waits at most to be told a new position, in nanoseconds.
  private static var delay: Int { 100_000_000 }

  init(_ connection: ReplicationConnection) { self.connection = connection }

  /// Receives until the feed ends, or throws that the connection was lost.
  mutating func run(_ consumer: inout Consumer) throws {
    while !consumer.isEnded {
      try tellIfDue(consumer)
      let isFull = consumer.isFull
      if isFull {
        try endIfStopping()
      } else if try receive(&consumer) {
        continue
      }
      consumer.hasTakenAll()
      let due = nextDue(consumer)
      try connection.await(isReading: !isFull, until: isFull ? min(due, nextAsking) : due)
    }
    try tell(consumer.takePosition(), consumer)
    connection.endCopy(until: MonotonicClock.nanoseconds + 2_000_000_000)
  }

  /// Takes the next message. Returns false if none has arrived.
  private mutating func receive(_ consumer: inout Consumer) throws -> Bool {
    var isAsked = false
    let end: UInt64?? = try connection.receive { bytes in
      do {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case UInt8(ascii: "w"):
          _ = try reader.take(count: 8 + 8 + 8)  // positions and the time
          try consumer.take(try reader.takeRest())
          return nil
        case UInt8(ascii: "k"):
          let end = try reader.take(UInt64.self)
          _ = try reader.take(count: 8)
          isAsked = try reader.take(UInt8.self) != 0
          return consumer.isInTransaction ? nil : end
        default: throw ServerValueText.Malformed()
        }
      } catch is ServerValueText.Malformed {
        throw PostgresFailure(
          "08P01", "the server has sent a change that can't be read", isConnectionLost: true)
      }
    }
    guard let end else { return false }
    if let end { consumer.noteReceived(end) }
    if isAsked { try answer(upTo: end ?? .max, consumer) }
    return true
  }

  // MARK: A server that stops

  /// Answers a request. A server that stops waits until everything that it has sent is handled, and asks without a
  /// pause. A slow consumer must not keep it from stopping.
  private mutating func answer(upTo end: UInt64, _ consumer: Consumer) throws {
    let position = consumer.takePosition()
    try tell(position, consumer)
    let now = MonotonicClock.nanoseconds
    if position >= end || now - requests.since > Self.second { requests = (0, now) }
    requests.count += 1
    if requests.count > 5, position < end { throw Self.stopping }
  }

  /// Requests are not seen while nothing is read: asks the server in another way whether it stops.
  private mutating func endIfStopping() throws {
    guard MonotonicClock.nanoseconds >= nextAsking else { return }
    asked = MonotonicClock.nanoseconds
    if connection.isServerStopping { throw Self.stopping }
  }

  private var nextAsking: Int { asked + 2 * Self.second }

  private static var second: Int { 1_000_000_000 }
  private static var stopping: PostgresFailure {
    PostgresFailure("57P01", "the server is stopping", isConnectionLost: true)
  }

  // MARK: Telling

  private func nextDue(_ consumer: Consumer) -> Int {
    let patience = connection.statusInterval
    return told.time + (consumer.hasNews ? min(Self.delay, patience) : patience)
  }

  private mutating func tellIfDue(_ consumer: Consumer) throws {
    guard MonotonicClock.nanoseconds >= nextDue(consumer) else { return }
    try tell(consumer.takePosition(), consumer)
  }

  /// Tells the server what it needn't keep.
  private mutating func tell(_ position: UInt64, _ consumer: Consumer) throws {
    var message = [UInt8(ascii: "r")]
    func append(_ number: UInt64) {
      withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }
    append(max(consumer.received, position))
    append(position)
    append(position)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let seconds = UInt64(max(0, now.tv_sec - Int(ServerTime.dayOf2000) * 86_400))
    append(seconds * 1_000_000 + UInt64(now.tv_nsec / 1_000))
    message.append(0)
    try connection.send(message)
    told = (MonotonicClock.nanoseconds, position)
  }
}
