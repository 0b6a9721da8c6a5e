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
  /// Whether the parent isn't around this scope, but around the creation of its task.
  private let isInherited: Bool
  private let isActive = Atomic<Bool>(true)

  private init(_ owner: ObjectIdentifier, inside parent: Scope?, isInherited: Bool) {
    self.owner = owner
    self.parent = parent
    self.isInherited = isInherited
  }

  /// How a scope stands to a queue or pool.
  private enum Relation {
    case outside
    /// A scope of it is around this one: to wait for it would last for ever.
    case inside
    /// A scope of it created the task and hasn't ended. It may be waiting for the task, or not.
    case inherited
  }

  private func relation(to owner: ObjectIdentifier) -> Relation {
    var relation = Relation.inside
    var scope: Scope? = self
    while let current = scope {
      if current.owner == owner, current.isActive.load(ordering: .relaxed) { return relation }
      if current.isInherited { relation = .inherited }
      scope = current.parent
    }
    return .outside
  }

  /// This scope or the next around it that hasn't ended. Those that have are let go of: tasks that
  /// create tasks in scopes, one after the other, would keep them all.
  private var firstActive: Scope? {
    var scope: Scope? = self
    while let current = scope, !current.isActive.load(ordering: .relaxed) { scope = current.parent }
    return scope
  }

  /// Whether its task was created in a scope of the same queue or pool that hasn't ended yet.
  var mayWaitForItself: Bool {
    switch parent?.relation(to: owner) {
    case .inside: isInherited
    case .inherited: true
    case .outside, nil: false
    }
  }

  /// A new scope for a call from this thread or task. Throws where that comes from inside of one.
  static func enter(_ owner: AnyObject) throws -> Scope {
    let owner = ObjectIdentifier(owner)
    guard let outer = current else {
      let inherited = inherited?.firstActive
      return Scope(owner, inside: inherited, isInherited: inherited != nil)
    }
    if outer.relation(to: owner) == .inside { throw reentryError }
    return Scope(owner, inside: outer, isInherited: false)
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
    // Tasks that the body creates inherit it.
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
