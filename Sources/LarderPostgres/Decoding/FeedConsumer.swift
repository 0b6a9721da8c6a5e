import LarderSQLite

/// What a feed makes of the server's messages: transactions of rows, which wait for the feed's consumer.
struct FeedConsumer: LogConsumer {
  let buffer: FeedBuffer
  var assembly: TransactionAssembly

  var isEnded: Bool { buffer.isEnded }
  var isFull: Bool { buffer.isFull(with: assembly.size) }
  var isInTransaction: Bool { assembly.commit != nil }
  var hasNews: Bool { buffer.hasNews }
  var received: UInt64 { buffer.received }

  mutating func take(_ message: UnsafeRawBufferPointer) throws {
    let arrival = try assembly.take(OutputMessage(message))
    if let arrival { return buffer.append(arrival) }
    if let commit = assembly.commit,
      let overflow = buffer.overflow(with: assembly.size, commit: commit)
    {
      buffer.end(.failure(overflow))
    }
  }

  func hasTakenAll() {}
  func noteReceived(_ position: UInt64) { buffer.noteReceived(position) }
  func takePosition() -> UInt64 { buffer.takePosition() }
}
