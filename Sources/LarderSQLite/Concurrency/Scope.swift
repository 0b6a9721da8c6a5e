import Glibc
import Synchronization

/// A scope of a queue or pool that is running, and those around it: how a call finds out that it
/// comes from inside of a scope of the same writer, which would wait for itself for ever.
///
/// A body may run on the thread of another caller, so that threads don't tell: each call takes the
/// scopes around it along, and whoever runs the body makes them the thread's own meanwhile.
final class Scope: Sendable {
  /// The queue or pool.
  let owner: ObjectIdentifier
  private let parent: Scope?
  private let isActive = Atomic<Bool>(true)

  init(of owner: AnyObject, inside parent: Scope?) {
    self.owner = ObjectIdentifier(owner)
    self.parent = parent
  }

  /// Whether this scope, or one around it, is of the same queue or pool.
  func isInside(_ owner: ObjectIdentifier) -> Bool {
    var scope: Scope? = self
    while let current = scope {
      if current.owner == owner { return current.isActive.load(ordering: .relaxed) }
      scope = current.parent
    }
    return false
  }

  /// A new scope for a call from this thread. Throws where that comes from inside of one.
  static func enter(_ owner: AnyObject) throws -> Scope {
    let outer = current
    if let outer, outer.isInside(ObjectIdentifier(owner)) { throw reentryError }
    return Scope(of: owner, inside: outer)
  }

  /// The innermost scope that this thread is in.
  static var current: Scope? {
    pthread_getspecific(key).map { Unmanaged<Scope>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The scope that a task was created in, if it was created in one.
  @TaskLocal static var inherited: Scope?

  // A thread's own variable holds an unretained pointer, which is sound because the scope outlives
  // the body, and the old value is put back after it.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Runs a body in this scope.
  func run<T>(_ body: () throws -> T) rethrows -> T {
    let outer = pthread_getspecific(Self.key)
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer {
      pthread_setspecific(Self.key, outer)
      isActive.store(false, ordering: .relaxed)
    }
    // Tasks that the body creates inherit it; there can be some only where there are tasks.
    guard withUnsafeCurrentTask(body: { $0 != nil }) else { return try body() }
    return try Self.$inherited.withValue(self, operation: body)
  }

  /// The error for a call from inside of a scope.
  static var reentryError: DatabaseError {
    DatabaseError(
      .misuse,
      """
      a scope of this queue or pool was entered from inside of one: use the Database that the outer \
      scope's closure was given, or make the call after the scope has ended
      """)
  }
}
