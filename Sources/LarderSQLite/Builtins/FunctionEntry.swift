import CSQLite

/// An SQL function to be registered: its name, the number of its arguments, SQLite's flags, and callbacks.
struct FunctionEntry {
  private let name: String
  private let argumentCount: Int32
  private let flags: Int32
  private let call: FunctionCall.Callback?
  private let aggregate: Aggregate?
  private let object: AnyObject?

  /// The callbacks of an aggregate; with `value` and `inverse` it is a window function, too.
  struct Aggregate {
    var step: FunctionCall.Callback
    var final: FunctionCall.ResultCallback
    var value: FunctionCall.ResultCallback?
    var inverse: FunctionCall.Callback?
  }

  /// Functions of this library: equal arguments give equal results. A file can't call them.
  static let ownFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
  /// Functions that indexes, constraints and generated columns can call, also those of a file from elsewhere.
  /// They have to be harmless.
  static let harmlessFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

  /// - Parameters:
  ///   - argumentCount: the number of arguments; -1 for any.
  ///   - object: the object that calls get.
  init(
    _ name: String, _ argumentCount: Int32, flags: Int32 = ownFlags, object: AnyObject? = nil,
    _ call: FunctionCall.Callback? = nil, aggregate: Aggregate? = nil
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.flags = flags
    self.call = call
    self.aggregate = aggregate
    self.object = object
  }

  var hasObject: Bool { object != nil }

  /// Registers the function, or removes the one that has no callbacks; returns SQLite's code. SQLite owns the
  /// object from now on and releases it, also if this fails.
  func register(on database: OpaquePointer) -> Int32 {
    let data = object.map { Unmanaged.passRetained($0).toOpaque() }
    let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? =
      object == nil ? nil : { data in data.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }
    guard let aggregate, aggregate.inverse != nil else {
      return sqlite3_create_function_v2(
        database, name, argumentCount, flags, data, call, aggregate?.step, aggregate?.final,
        release)
    }
    return sqlite3_create_window_function(
      database, name, argumentCount, flags, data, aggregate.step, aggregate.final,
      aggregate.value, aggregate.inverse, release)
  }

  /// Registers the function on a connection that is being set up.
  func install(on database: OpaquePointer) throws {
    let code = register(on: database)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }
}
