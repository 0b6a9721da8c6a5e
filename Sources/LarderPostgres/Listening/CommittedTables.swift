import CLibPQ
import LarderSQLite

/// A transaction whose commit the server has logged, or that was running at a time, and the tables to which
/// it has written.
struct LoggedCommit: Hashable, Sendable {
  /// The transaction's number, without its epoch.
  let transaction: UInt32
  /// The numbers of the tables; nil if they are unknown.
  var tables: Set<UInt32>?
}

/// What observed values need of the server's messages: which transactions have written to which tables. Of
/// the rows nothing is read.
struct CommittedTables: LogConsumer {
  private let stream: CommitStream
  private var current: LoggedCommit?
  private var arrived: [LoggedCommit] = []
  private(set) var received: UInt64

  init(_ stream: CommitStream, from position: UInt64) {
    self.stream = stream
    received = position
  }

  var isEnded: Bool { stream.isEnded }
  var isFull: Bool { false }
  var isInTransaction: Bool { current != nil }
  var hasNews: Bool { false }

  func takePosition() -> UInt64 { received }

  mutating func noteReceived(_ position: UInt64) { received = max(received, position) }

  mutating func take(_ message: UnsafeRawBufferPointer) throws {
    var reader = WireReader(message)
    switch try reader.take(UInt8.self) {
    case UInt8(ascii: "B"):
      _ = try reader.take(count: 8 + 8)  // the position of the commit, and its time
      current = LoggedCommit(transaction: try reader.take(UInt32.self), tables: [])
    case UInt8(ascii: "C"):
      _ = try reader.take(count: 1 + 8)  // flags, and the position of the commit
      received = max(received, try reader.take(UInt64.self))
      if let current, current.tables?.isEmpty == false { arrived.append(current) }
      current = nil
    case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"):
      current?.tables?.insert(try reader.take(Oid.self))
    case UInt8(ascii: "T"):
      let count = try reader.take(Int32.self)
      _ = try reader.take(count: 1)  // CASCADE, RESTART IDENTITY
      guard count >= 0 else { throw ServerValueText.Malformed() }
      for _ in 0..<count { current?.tables?.insert(try reader.take(Oid.self)) }
    default: break
    }
  }

  mutating func hasTakenAll() {
    guard !arrived.isEmpty else { return }
    stream.deliver(arrived)
    arrived = []
  }
}
