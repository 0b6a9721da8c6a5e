import CSQLite

/// A scope that this thread is in, with a pointer to the one around it. By this list a call finds out that it
/// would wait for itself (re-entrancy).
///
/// The thread alone tells which scopes a call is in, since closures run on their callers' threads and tasks'
/// closures are synchronous. A task that was created in a scope isn't in it: it waits like any other.
struct EnteredScope {
  /// The queue or pool.
  let owner: ObjectIdentifier
  let holding: Holding
  /// The enclosing scope on this thread, which outlives this one.
  private let outer: UnsafePointer<EnteredScope>?

  /// Runs a body inside of a scope.
  static func run<T>(
    _ owner: ObjectIdentifier, _ holding: Holding, _ body: () throws -> T
  ) rethrows -> T {
    let slot = slot()
    let outer = slot.pointee
    let scope = EnteredScope(
      owner: owner, holding: holding, outer: outer.map { UnsafePointer($0) })
    // The pointer is good as long as the body runs, and the old value is put back after it.
    return try withUnsafePointer(to: scope) { pointer in
      slot.pointee = UnsafeMutablePointer(mutating: pointer)
      defer { slot.pointee = outer }
      return try body()
    }
  }

  /// The connections of a queue or pool that this thread holds.
  static func held(of owner: ObjectIdentifier) -> Held {
    var held = Held()
    var scope = slot().pointee.map { UnsafePointer($0) }
    while let current = scope {
      if current.pointee.owner == owner {
        if current.pointee.holding != .reader { held.writer = true }
        if current.pointee.holding != .writer { held.readers += 1 }
      }
      scope = current.pointee.outer
    }
    return held
  }

  enum Holding {
    case writer, reader
    /// One of a pool's connections that each read and write.
    case serverConnection
  }

  struct Held: Equatable {
    var writer = false
    var readers = 0
    var isNothing: Bool { !writer && readers == 0 }
  }

  static var isInside: Bool { slot().pointee != nil }

  /// The thread-local variable. Never inlined, so that there is only one.
  @inline(never)
  private static func slot() -> UnsafeMutablePointer<UnsafeMutablePointer<EnteredScope>?> {
    UnsafeMutableRawPointer(larder_thread_slot())
      .assumingMemoryBound(to: UnsafeMutablePointer<EnteredScope>?.self)
  }

  static var reentryError: DatabaseError {
    DatabaseError(
      .misuse,
      """
      a scope of this queue or pool was entered from inside of one: use the Database that the outer \
      scope's closure was given, or make the call after the scope has ended
      """)
  }
}
