import CSQLite

// Custom aggregate functions.

extension Database {
  /// Registers an aggregate function for use in SQL.
  ///
  /// ```swift
  /// try db.createAggregate(
  ///   "longest", argumentCount: 1, initial: "",
  ///   step: { longest, arguments in
  ///     let text = try String(databaseValue: arguments[0])
  ///     if text.count > longest.count { longest = text }
  ///   }, final: { $0 })
  /// ```
  ///
  /// Errors of the closures, replacing, and the other parameters are as for
  /// ``createFunction(_:argumentCount:deterministic:directOnly:_:)``.
  ///
  /// - `initial`: the state with which each group begins, and which `final` gets for a group without rows.
  /// - `step`: adds a row's arguments to the state.
  /// - `inverse`: removes a row's arguments from the state, so that the aggregate can be used as a window
  ///   function with a moving frame; see
  ///   [User-defined aggregate window functions](https://www.sqlite.org/windowfunctions.html#udfwinfunc). If
  ///   nil, it isn't a window function.
  /// - `final`: the result of a group or, in a window, of the rows in the frame.
  ///
  /// Throws `ResultCode.misuse` and `ResultCode.busy` as
  /// ``createFunction(_:argumentCount:deterministic:directOnly:_:)`` does.
  public func createAggregate<State: Sendable>(
    _ name: String, argumentCount: Int? = nil, deterministic: Bool = true, directOnly: Bool = true,
    initial: State,
    step: @escaping @Sendable (inout State, [DatabaseValue]) throws -> Void,
    inverse: (@Sendable (inout State, [DatabaseValue]) throws -> Void)? = nil,
    final: @escaping @Sendable (State) throws -> (any DatabaseValueConvertible)?
  ) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: deterministic, directOnly: directOnly)
    let aggregate = Aggregate(FunctionFormat(connection)) {
      var state = initial
      return Group {
        try step(&state, $0)
      } inverse: {
        try inverse?(&state, $0)
      } final: {
        try final(state)
      }
    }
    try connection.register(
      signature, aggregate,
      step: { Aggregate.of($0)?.change($0, $1, $2) { try $0.step($1) } },
      final: { Aggregate.of($0)?.final($0) },
      value: inverse == nil ? nil : { Aggregate.of($0)?.value($0) },
      inverse: inverse == nil
        ? nil : { Aggregate.of($0)?.change($0, $1, $2) { try $0.inverse($1) } })
  }
}

/// An aggregate function, with the type of its state erased.
private final class Aggregate {
  private let format: FunctionFormat
  private let makeGroup: () -> Group

  init(_ format: FunctionFormat, makeGroup: @escaping () -> Group) {
    self.format = format
    self.makeGroup = makeGroup
  }

  static func of(_ context: OpaquePointer?) -> Aggregate? {
    sqlite3_user_data(context).map { Unmanaged<Aggregate>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Memory that SQLite keeps for each group, zeroed at first: one pointer, which owns a ``Group``.
  private func room(
    _ context: OpaquePointer?, create: Bool
  ) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    let size = create ? Int32(MemoryLayout<UnsafeRawPointer?>.size) : 0
    return sqlite3_aggregate_context(context, size)?
      .assumingMemoryBound(to: UnsafeRawPointer?.self)
  }

  /// Adds a row to a group, or removes one.
  func change(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (Group, [DatabaseValue]) throws -> Void
  ) {
    guard let room = room(context, create: true) else {
      sqlite3_result_error_nomem(context)
      return
    }
    let group: Group
    if let pointer = room.pointee {
      group = Unmanaged<Group>.fromOpaque(pointer).takeUnretainedValue()
    } else {
      group = makeGroup()
      room.pointee = UnsafeRawPointer(Unmanaged.passRetained(group).toOpaque())
    }
    let context = FunctionContext(context: context, format: format)
    var arguments: [DatabaseValue] = []
    do {
      arguments = try context.arguments(count, values)
      try body(group, arguments)
    } catch {
      group.hasFailed = true
      context.setError(error, arguments: arguments)
    }
  }

  /// Sets the result of a group and releases it. Called once for each group, even after an error.
  func final(_ context: OpaquePointer?) {
    let room = room(context, create: false)
    value(context)
    room?.pointee.map { Unmanaged<Group>.fromOpaque($0).release() }
    room?.pointee = nil
  }

  /// Sets the result of a window's frame, after which the group continues.
  func value(_ context: OpaquePointer?) {
    let group = room(context, create: false)?.pointee
      .map { Unmanaged<Group>.fromOpaque($0).takeUnretainedValue() }
    guard group?.hasFailed != true else { return }
    let context = FunctionContext(context: context, format: format)
    do {
      try context.setResult((group ?? makeGroup()).final())
    } catch {
      context.setError(error)
    }
  }
}

/// The state of one group of rows, with its type erased by three closures.
private final class Group {
  let step: ([DatabaseValue]) throws -> Void
  let inverse: ([DatabaseValue]) throws -> Void
  let final: () throws -> (any DatabaseValueConvertible)?
  var hasFailed = false

  init(
    step: @escaping ([DatabaseValue]) throws -> Void,
    inverse: @escaping ([DatabaseValue]) throws -> Void,
    final: @escaping () throws -> (any DatabaseValueConvertible)?
  ) {
    self.step = step
    self.inverse = inverse
    self.final = final
  }
}
