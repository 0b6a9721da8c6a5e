import CSQLite

// Aggregate functions of the program's own.

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
  /// What it throws, replacing and the parameters are as for
  /// ``createFunction(_:argumentCount:deterministic:directOnly:_:)``.
  ///
  /// - `initial`: what a group begins with, and what `final` gets when it has no rows.
  /// - `step`: adds the arguments of a row.
  /// - `inverse`: takes the arguments of a row out again, which makes the aggregate usable as a window
  ///     function with a frame that moves; see
  ///     [User-defined aggregate window functions](https://www.sqlite.org/windowfunctions.html#udfwinfunc).
  ///     Nil: it is no window function.
  /// - `final`: the result of a group or, in a window, of the rows that are in the frame.
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

/// An aggregate function, whatever the type of its state.
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

  /// SQLite keeps one pointer's room for each group, zero at first; in it we own a group.
  private func room(
    _ context: OpaquePointer?, create: Bool
  ) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    let size = create ? Int32(MemoryLayout<UnsafeRawPointer?>.size) : 0
    return sqlite3_aggregate_context(context, size)?
      .assumingMemoryBound(to: UnsafeRawPointer?.self)
  }

  /// Adds a row to a group, or takes one out.
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

  /// Called once for each group, also after an error.
  func final(_ context: OpaquePointer?) {
    let room = room(context, create: false)
    let group = room?.pointee.map { Unmanaged<Group>.fromOpaque($0).takeRetainedValue() }
    room?.pointee = nil
    setResult(of: group, context)
  }

  /// The result of a window's frame, after which the group goes on.
  func value(_ context: OpaquePointer?) {
    let room = room(context, create: false)
    setResult(
      of: room?.pointee.map { Unmanaged<Group>.fromOpaque($0).takeUnretainedValue() }, context)
  }

  private func setResult(of group: Group?, _ context: OpaquePointer?) {
    guard group?.hasFailed != true else { return }
    let context = FunctionContext(context: context, format: format)
    do {
      try context.setResult((group ?? makeGroup()).final())
    } catch {
      context.setError(error)
    }
  }
}

/// The state of one group of rows, whatever its type, in three closures.
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
