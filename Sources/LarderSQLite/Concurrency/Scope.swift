import Glibc
import Synchronization

/// A scope of a queue or pool that is running, and those around it: how a call finds out that it
/// comes from inside of a scope of the same writer, which would wait for itself for ever.
///
/// A body may run on the thread of another caller, so that threads don't tell: each call takes the
/// scopes around it along, and whoever runs the body makes them the thread's own meanwhile.
///
/// What makes it Sendable: its variables are set when it is made, and made anew, which happens only
/// when nobody else refers to it.
final class Scope: @unchecked Sendable {
  /// The queue or pool.
  private(set) var owner: ObjectIdentifier
  private var parent: Scope?
  /// Whether the parent isn't around this scope, but around the creation of its task.
  private var isInherited: Bool
  private let isActive = Atomic<Bool>(true)

  private init(_ owner: ObjectIdentifier, inside parent: Scope?, isInherited: Bool) {
    self.owner = owner
    self.parent = parent
    self.isInherited = isInherited
  }

  /// A new scope, or one that this thread has used before and nobody has kept: making one takes a
  /// third of an empty scope's time.
  private static func make(
    _ owner: ObjectIdentifier, inside parent: Scope?, isInherited: Bool
  ) -> Scope {
    guard let spare = pthread_getspecific(spareKey) else {
      return Scope(owner, inside: parent, isInherited: isInherited)
    }
    pthread_setspecific(spareKey, nil)
    let scope = Unmanaged<Scope>.fromOpaque(spare).takeRetainedValue()
    scope.owner = owner
    scope.parent = parent
    scope.isInherited = isInherited
    scope.isActive.store(true, ordering: .relaxed)
    return scope
  }

  /// Keeps a scope that has ended for this thread's next one, unless somebody refers to it.
  static func recycle(_ scope: consuming Scope) {
    guard isKnownUniquelyReferenced(&scope), pthread_getspecific(spareKey) == nil else { return }
    scope.parent = nil
    pthread_setspecific(spareKey, Unmanaged.passRetained(scope).toOpaque())
  }

  // What a thread keeps is released when it ends.
  private static let spareKey: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { spare in
      if let spare { Unmanaged<Scope>.fromOpaque(spare).release() }
    }
    return key
  }()

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
      return make(owner, inside: inherited, isInherited: inherited != nil)
    }
    if outer.relation(to: owner) == .inside { throw reentryError }
    return make(owner, inside: outer, isInherited: false)
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
