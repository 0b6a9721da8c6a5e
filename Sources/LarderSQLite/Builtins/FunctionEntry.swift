import CSQLite

/// An SQL function to be registered: its name, the number of its arguments, SQLite's flags, and what answers.
///
/// Sendable because nothing of it changes, and because its closures hold nothing that does: SQLite calls those of
/// one entry on several connections at once.
struct FunctionEntry: @unchecked Sendable {
  private let name: String
  private let argumentCount: Int32
  private let flags: Int32
  private var call: FunctionCall.Callback?
  /// The closure or the closures that answer; SQLite keeps it with the function.
  private var object: AnyObject?

  /// The closures of an aggregate; with an inverse it is a window function, too.
  final class Aggregate {
    let step: (FunctionCall) -> Void
    /// Gives the result of a group; the last call for it says so.
    let answer: (FunctionCall, _ isLast: Bool) -> Void
    let inverse: ((FunctionCall) -> Void)?

    init(
      step: @escaping (FunctionCall) -> Void, inverse: ((FunctionCall) -> Void)?,
      answer: @escaping (FunctionCall, Bool) -> Void
    ) {
      self.step = step
      self.inverse = inverse
      self.answer = answer
    }
  }

  private final class Scalar {
    let answer: (FunctionCall) -> Void

    init(_ answer: @escaping (FunctionCall) -> Void) { self.answer = answer }
  }

  /// Functions of this library: equal arguments give equal results. A file can't call them.
  static let ownFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
  /// Functions that indexes, constraints and generated columns can call, also those of a file from elsewhere.
  /// They have to be harmless.
  static let harmlessFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

  /// A function without a state, or none: registering it removes the one of that name.
  ///
  /// - Parameter argumentCount: the number of arguments; -1 for any.
  init(
    _ name: String, _ argumentCount: Int32, flags: Int32 = ownFlags,
    _ call: FunctionCall.Callback? = nil
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.flags = flags
    self.call = call
  }

  init(
    _ name: String, _ argumentCount: Int32, flags: Int32,
    answer: @escaping (FunctionCall) -> Void
  ) {
    self.init(name, argumentCount, flags: flags) {
      let call = FunctionCall($0, $1, $2)
      call.object(as: Scalar.self)?.answer(call)
    }
    object = Scalar(answer)
  }

  init(_ name: String, _ argumentCount: Int32, flags: Int32 = ownFlags, aggregate: Aggregate) {
    self.init(name, argumentCount, flags: flags)
    object = aggregate
  }

  var hasObject: Bool { object != nil }

  /// Whether no schema can call it, only a statement.
  var isOnlyForStatements: Bool { flags & SQLITE_DIRECTONLY != 0 }

  /// Registers the function, and returns SQLite's code. SQLite owns the object from now on and releases it,
  /// also if this fails.
  func register(on database: OpaquePointer) -> Int32 {
    let data = object.map { Unmanaged.passRetained($0).toOpaque() }
    let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? =
      object == nil ? nil : { data in data.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }
    guard let aggregate = object as? Aggregate else {
      return sqlite3_create_function_v2(
        database, name, argumentCount, flags, data, call, nil, nil, release)
    }
    let step: FunctionCall.Callback = {
      let call = FunctionCall($0, $1, $2)
      call.object(as: Aggregate.self)?.step(call)
    }
    let final: FunctionCall.ResultCallback = {
      let call = FunctionCall($0)
      call.object(as: Aggregate.self)?.answer(call, true)
    }
    guard aggregate.inverse != nil else {
      return sqlite3_create_function_v2(
        database, name, argumentCount, flags, data, nil, step, final, release)
    }
    return sqlite3_create_window_function(
      database, name, argumentCount, flags, data, step, final,
      {
        let call = FunctionCall($0)
        call.object(as: Aggregate.self)?.answer(call, false)
      },
      {
        let call = FunctionCall($0, $1, $2)
        call.object(as: Aggregate.self)?.inverse?(call)
      }, release)
  }

  /// Registers the function on a connection that is being set up.
  func install(on database: OpaquePointer) throws {
    let code = register(on: database)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }
}
