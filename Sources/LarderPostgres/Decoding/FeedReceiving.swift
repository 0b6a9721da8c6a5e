import CLibPQ
import Glibc
import LarderSQLite

/// One connection's part of a feed: receives messages, and tells the server how far the consumer has come.
///
/// See [Streaming Replication Protocol](https://www.postgresql.org/docs/current/protocol-replication.html).
struct FeedReceiving {
  private let connection: ReplicationConnection
  private let buffer: FeedBuffer
  /// When the server was told last, in nanoseconds of `MonotonicClock`, and which position.
  private var told: (time: Int, position: UInt64) = (0, 0)

  /// The requests for an answer since a time, in nanoseconds of `MonotonicClock`, that didn't get the position
  /// that the server waits for.
  private var requests = (count: 0, since: 0)
  /// When the server was asked last whether it stops, while nothing was read.
  private var asked = MonotonicClock.nanoseconds

  /// How long the server waits at most to be told a new position, in nanoseconds.
  private static let delay = 100_000_000

  init(_ connection: ReplicationConnection, _ buffer: FeedBuffer) {
    self.connection = connection
    self.buffer = buffer
  }

  /// Receives until the feed ends, or throws that the connection was lost.
  mutating func run(_ assembly: inout TransactionAssembly) throws {
    while !buffer.isEnded {
      try tellIfDue()
      let isFull = buffer.isFull(with: assembly.size)
      if isFull {
        try endIfStopping()
      } else if try receive(&assembly) {
        continue
      }
      try connection.await(isReading: !isFull, until: isFull ? min(nextDue, nextAsking) : nextDue)
    }
    try tell(buffer.takePosition())
    connection.endCopy(until: MonotonicClock.nanoseconds + 2_000_000_000)
  }

  /// Takes the next message. Returns false if none has arrived.
  private mutating func receive(_ assembly: inout TransactionAssembly) throws -> Bool {
    var isAsked = false
    let end: UInt64?? = try connection.receive { bytes in
      do {
        var reader = WireReader(bytes)
        switch try reader.take(UInt8.self) {
        case UInt8(ascii: "w"):
          _ = try reader.take(count: 8 + 8 + 8)  // positions and the time
          try take(OutputMessage(try reader.takeRest()), &assembly)
          return nil
        case UInt8(ascii: "k"):
          let end = try reader.take(UInt64.self)
          _ = try reader.take(count: 8)
          isAsked = try reader.take(UInt8.self) != 0
          return assembly.commit == nil ? end : nil
        default: throw ServerValueText.Malformed()
        }
      } catch is ServerValueText.Malformed {
        throw PostgresFailure(
          "08P01", "the server has sent a change that can't be read", isConnectionLost: true)
      }
    }
    guard let end else { return false }
    if let end { buffer.noteReceived(end) }
    if isAsked { try answer(upTo: end ?? .max) }
    return true
  }

  private func take(_ message: OutputMessage, _ assembly: inout TransactionAssembly) throws {
    let arrival = try assembly.take(message)
    if let arrival { return buffer.append(arrival) }
    if let commit = assembly.commit,
      let overflow = buffer.overflow(with: assembly.size, commit: commit)
    {
      buffer.end(.failure(overflow))
    }
  }

  // MARK: A server that stops

  /// Answers a request. A server that stops waits until everything that it has sent is handled, and asks without a
  /// pause. A slow consumer must not keep it from stopping.
  private mutating func answer(upTo end: UInt64) throws {
    let position = buffer.takePosition()
    try tell(position)
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

  private static let second = 1_000_000_000
  private static let stopping = PostgresFailure(
    "57P01", "the server is stopping", isConnectionLost: true)

  // MARK: Telling

  private var nextDue: Int {
    let patience = connection.statusInterval
    return told.time + (buffer.hasNews ? min(Self.delay, patience) : patience)
  }

  private mutating func tellIfDue() throws {
    guard MonotonicClock.nanoseconds >= nextDue else { return }
    try tell(buffer.takePosition())
  }

  /// Tells the server what it needn't keep.
  private mutating func tell(_ position: UInt64) throws {
    var message = [UInt8(ascii: "r")]
    func append(_ number: UInt64) {
      withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }
    append(max(buffer.received, position))
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
