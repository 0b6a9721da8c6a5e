import Dispatch
import LarderSQLite

/// How a log is shipped.
package struct ReplicationPlan: Sendable {
  /// How often a segment is cut.
  var interval: Duration
  /// How many bytes of pages an object holds at most.
  var objectSize = 8 << 20
  /// The size of a chain, in bytes, from which on it may be longer than the database.
  var smallestChain = 16 << 20
  /// How long what can be restored is kept.
  package var keeping = Duration.seconds(30 * 86_400)
  package var onFailure: (@Sendable (any Error) -> Void)?
  /// Whether the sink is only asked for something once there is something to ship, and errors at the start aren't thrown.
  /// A log of that name of another database is followed by a new generation.
  package var isLazy = false
  /// The threads that several databases share; nil for queues of its own.
  package var threads: ShippingThreads?
  /// Called when a lazy replication ends or pauses: whether all that was committed is in the sink.
  package var onEnd: (@Sendable (Bool) -> Void)?

  package init(interval: Duration) { self.interval = interval }

  /// Makes many small objects, for proofs.
  package static func small(interval: Duration, objectSize: Int, smallestChain: Int) -> Self {
    var plan = Self(interval: interval)
    plan.objectSize = objectSize
    plan.smallestChain = smallestChain
    return plan
  }
}

/// The serial queues that a shipper works on.
struct ShippingQueues: Sendable {
  let shipping: DispatchQueue
  let marks: DispatchQueue
  let upkeep: DispatchQueue
  let reports: DispatchQueue

  /// Queues that get a thread each when they have something to do.
  init() {
    shipping = DispatchQueue(label: "larder.replication")
    marks = DispatchQueue(label: "larder.replication.mark")
    upkeep = DispatchQueue(label: "larder.replication.upkeep")
    reports = DispatchQueue(label: "larder.replication.report")
  }

  /// Queues that run on those of several shippers.
  init(on shared: ShippingQueues, _ lane: DispatchQueue) {
    shipping = DispatchQueue(label: "larder.replication", target: lane)
    marks = DispatchQueue(label: "larder.replication.mark", target: shared.marks)
    upkeep = DispatchQueue(label: "larder.replication.upkeep", target: shared.upkeep)
    reports = DispatchQueue(label: "larder.replication.report", target: shared.reports)
  }
}

/// The threads of many databases' shippers: some that ship, so that a few objects are on their way at a time, and one
/// each that moves marks, merges segments, and reports.
package final class ShippingThreads: Sendable {
  private let shared = ShippingQueues()
  private let lanes: [DispatchQueue]
  private let openings = DispatchQueue(label: "larder.replication.open")
  private let next = Lock(0)

  package init(shipping count: Int) {
    lanes = (0..<max(1, count)).map { DispatchQueue(label: "larder.replication.\($0)") }
  }

  /// Calls a closure again and again until it returns false, on a thread that ships nothing.
  package func repeats(after pause: Duration, _ body: @escaping @Sendable () -> Bool) {
    openings.repeats(after: pause, body)
  }

  /// Calls a closure of the program's, one at a time.
  package func report(_ body: @escaping @Sendable () -> Void) {
    shared.reports.async(execute: body)
  }

  package func run(_ body: @escaping @Sendable () -> Void) { openings.async(execute: body) }

  func queues() -> ShippingQueues {
    let number = next.withLock { number in
      number = (number + 1) % lanes.count
      return number
    }
    return ShippingQueues(on: shared, lanes[number])
  }
}
