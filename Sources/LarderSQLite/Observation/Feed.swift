/// The transactions that a feed holds until its consumer asks for them. Guarded by the lock of ``Observers``.
final class Feed {
  /// The tables that the feed follows; empty before it begins.
  var tables: Set<Region.TableName> = []
  let limit: RowLog.Amount
  var waiter: Observers.Waiter?
  /// Whether the feed has begun, in the scope that calls `beginning`. Earlier commits aren't delivered.
  var hasBegun = false
  private var items: [FeedItem] = []
  /// The index of the first item that wasn't delivered.
  private var first = 0
  private var held = RowLog.Amount()
  private var overflow: FeedOverflow?

  init(limit: RowLog.Amount) { self.limit = limit }

  var hasNext: Bool { first < items.count || overflow != nil }

  /// Adds a transaction's changes. Returns the waiter to wake, if any.
  func append(_ log: RowLog, _ number: Int, _ position: Int) -> Observers.Waiter? {
    guard hasBegun, overflow == nil else { return nil }
    let changes = log.changes.filter { tables.contains($0.tableName) }
    var sum = held
    for change in changes { sum.add(change) }
    let overflown = tables.lazy.compactMap { log.state.overflown[$0] }.first
    if let unit = overflown ?? sum.excess(over: limit) {
      overflow = FeedOverflow(
        number: number, limit: unit == .changes ? limit.changes : limit.bytes, kind: unit)
      return waiter.take()
    }
    guard !changes.isEmpty else { return nil }
    let size = RowLog.Amount(changes: changes.count, bytes: sum.bytes - held.bytes)
    held = sum
    items.append(
      FeedItem(
        number: number, changes: changes, isFromElsewhere: false, position: position, size: size))
    return waiter.take()
  }

  func appendUnknown(_ number: Int) -> Observers.Waiter? {
    // Several unknown transactions in succession tell the consumer no more than one.
    guard hasBegun, overflow == nil, items.last?.isFromElsewhere != true || first == items.count
    else {
      return nil
    }
    items.append(
      FeedItem(number: number, changes: [], isFromElsewhere: true, position: 0, size: .init()))
    return waiter.take()
  }

  /// Takes the next item out; nil if there is none yet. Throws the overflow after the last item, if there was
  /// one.
  func removeFirst() throws -> FeedItem? {
    guard first < items.count else {
      if let overflow { throw overflow }
      return nil
    }
    let item = items[first]
    first += 1
    held.changes -= item.size.changes
    held.bytes -= item.size.bytes
    if first * 2 > items.count {
      items.removeFirst(first)
      first = 0
    }
    return item
  }
}

/// A transaction in a feed's buffer.
struct FeedItem: Sendable {
  let number: Int
  let changes: [RowChange]
  let isFromElsewhere: Bool
  /// The log position that has to be synced before the transaction is delivered.
  let position: Int
  let size: RowLog.Amount
}
