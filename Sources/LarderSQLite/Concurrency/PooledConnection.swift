import CSQLite
import Dispatch
import Synchronization

/// A slot of a pool for a connection: empty, idle, busy, or being opened.
///
/// Sendable because the thread that has changed its state to busy is its only user.
final class PooledConnection: @unchecked Sendable {
  /// Nil until it is opened.
  var database: Database? {
    willSet { connection.withLock { $0 = nil } }
    didSet {
      reference = database.map(Unmanaged.passUnretained)
      connection.withLock { $0 = database.map { Unmanaged.passUnretained($0.connection) } }
    }
  }
  /// An unretained reference to the connection, for other threads, which use it under the lock: it isn't
  /// released meanwhile, nor by them.
  private let connection = Lock<Unmanaged<Connection>?>(nil)
  /// An unretained reference to ``database``: the slot's user keeps others from closing it.
  var reference: Unmanaged<Database>?
  let cancellation = Cancellation()
  /// The handle that interrupts the connection, from any thread.
  let interrupts = Lock<InterruptHandle?>(nil)
  /// Runs the closures of tasks. A serial queue has threads of its own; a concurrent one takes those of the
  /// cooperative pool.
  let worker = DispatchQueue(label: "larder.reader")
  let state = Atomic<UInt32>(empty)
  /// When the scope that uses it began, in ticks of the processor.
  let since = Atomic<UInt64>(0)
  /// The label and line of that scope's ``ScopeCall``.
  private let label = Atomic<UInt>(0)
  private let line = Atomic<UInt>(0)
  /// Padding against false sharing: keeps the next object off this one's cache lines, which its thread writes
  /// to.
  private let padding = (SIMD16<UInt64>(), SIMD8<UInt64>())

  static let empty: UInt32 = 0
  static let idle: UInt32 = 1
  static let busy: UInt32 = 2
  /// Being opened, for the scope that is then first in the queue.
  static let opening: UInt32 = 3

  /// Whether it is in use or being opened.
  var isBusy: Bool { state.load(ordering: .sequentiallyConsistent) >= Self.busy }

  /// The connection's memory in bytes when it was last measured. Has it measured again.
  func measureMemory() -> Int {
    connection.withLock { connection in
      connection?._withUnsafeGuaranteedRef {
        $0.block(.measurement)
        return $0.memory.load(ordering: .relaxed)
      } ?? 0
    }
  }

  /// Notes when a scope begins.
  func begin() { since.store(larder_ticks(), ordering: .relaxed) }

  /// Notes whose scope uses it.
  @inline(__always)
  func note(_ call: ScopeCall) {
    label.store(call.label, ordering: .relaxed)
    line.store(call.line, ordering: .relaxed)
  }

  /// The call of the scope that uses it, or has used it last.
  var call: ScopeCall {
    ScopeCall(label: label.load(ordering: .relaxed), line: line.load(ordering: .relaxed))
  }

  func change(from expected: UInt32, to desired: UInt32) -> Bool {
    state.compareExchange(
      expected: expected, desired: desired, ordering: .sequentiallyConsistent
    ).exchanged
  }
}
