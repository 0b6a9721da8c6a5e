/// What a feed holds until its consumer asks for it. The lock of ``Observers`` guards it.
final class Feed {
  /// What it follows; none before it begins.
  var tables: Set<Region.TableName> = []
  let limit: RowLog.Amount
  var waiter: Observers.Waiter?
  /// Whether it has begun, in the scope that reads what it begins with. What was committed before isn't its.
  var hasBegun = false
  private var items: [FeedItem] = []
  /// The first item that wasn't delivered.
  private var first = 0
  private var held = RowLog.Amount()
  private var overflow: FeedOverflow?

  init(limit: RowLog.Amount) { self.limit = limit }

  var hasNext: Bool { first < items.count || overflow != nil }

  /// Adds what a transaction has changed; returns who is to be woken.
  func append(_ log: RowLog, _ number: Int, _ position: Int) -> Observers.Waiter? {
    guard hasBegun, overflow == nil else { return nil }
    let changes = log.changes.filter { tables.contains($0.tableName) }
    var sum = held
    for change in changes { sum.add(change) }
    let overflown = tables.lazy.compactMap { log.state.overflown[$0] }.first
    if let unit = overflown ?? sum.excess(over: limit) {
      overflow = FeedOverflow(
        number: number, limit: unit == .changes ? limit.changes : limit.bytes, unit: unit)
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
    // One says as much as many.
    guard hasBegun, overflow == nil, items.last?.isFromElsewhere != true || first == items.count
    else {
      return nil
    }
    items.append(
      FeedItem(number: number, changes: [], isFromElsewhere: true, position: 0, size: .init()))
    return waiter.take()
  }

  /// Takes the next item out. Throws where there is none any more since there were too many.
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

/// A transaction, as a feed holds it.
struct FeedItem: Sendable {
  let number: Int
  let changes: [RowChange]
  let isFromElsewhere: Bool
  /// What has to be on disk before it is told.
  let position: Int
  let size: RowLog.Amount
}
