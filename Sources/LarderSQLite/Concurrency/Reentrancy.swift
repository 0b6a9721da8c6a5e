import CSQLite

/// Re-entrancy: the scopes that this thread is in, the innermost first, by which a call finds out that it
/// waits for itself.
///
/// Closures run on their callers' threads, and tasks' closures are synchronous, so that what a
/// thread is in tells all. A task that was created in a scope is not in it: it waits like any other.
struct EnteredScope {
  /// The queue or pool.
  let owner: ObjectIdentifier
  let holding: Holding
  /// The scope around it on this thread, which outlives it.
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

  /// What this thread holds of a queue or pool.
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

  /// What a scope holds.
  enum Holding {
    case writer, reader
    /// One of a pool's connections that each read and write.
    case readerThatWrites
  }

  /// What a thread holds.
  struct Held: Equatable {
    var writer = false
    var readers = 0
    var isNothing: Bool { !writer && readers == 0 }
  }

  /// Whether this thread is in any scope at all.
  static var isInside: Bool { slot().pointee != nil }

  /// The thread's own variable. Never inlined, so that there is one of it.
  @inline(never)
  private static func slot() -> UnsafeMutablePointer<UnsafeMutablePointer<EnteredScope>?> {
    UnsafeMutableRawPointer(larder_thread_slot())
      .assumingMemoryBound(to: UnsafeMutablePointer<EnteredScope>?.self)
  }

  /// The error for a call that would wait for itself.
  static var reentryError: DatabaseError {
    DatabaseError(
      .misuse,
      """
      a scope of this queue or pool was entered from inside of one: use the Database that the outer \
      scope's closure was given, or make the call after the scope has ended
      """)
  }
}
