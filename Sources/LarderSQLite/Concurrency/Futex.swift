import CSQLite
import Synchronization

/// A futex: a number on which threads sleep until it changes. It has an address of its own, as the system
/// requires.
///
/// See [futex(2)](https://man7.org/linux/man-pages/man2/futex.2.html).
struct Futex: ~Copyable {
  private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

  init() { word.initialize(to: Atomic(0)) }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  var value: UInt32 { word.pointee.load(ordering: .acquiring) }

  func store(_ value: UInt32) { word.pointee.store(value, ordering: .releasing) }

  func increment() { word.pointee.wrappingAdd(1, ordering: .releasing) }

  /// Sleeps while the number is this one, at most for a time; perhaps shorter.
  func wait(while value: UInt32, nanoseconds: Int) {
    larder_futex_wait(word, value, Int64(nanoseconds))
  }

  func wake(_ count: Int32 = 1) { larder_futex_wake(word, count) }
}
