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
  /// - `final`: the result of a group.
  public func createAggregate<State: Sendable>(
    _ name: String, argumentCount: Int? = nil, deterministic: Bool = true, directOnly: Bool = true,
    initial: State,
    step: @escaping @Sendable (inout State, [DatabaseValue]) throws -> Void,
    final: @escaping @Sendable (State) throws -> (any DatabaseValueConvertible)?
  ) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: deterministic, directOnly: directOnly)
    let aggregate = Aggregate(FunctionFormat(connection)) {
      var state = initial
      return Group {
        try step(&state, $0)
      } final: {
        try final(state)
      }
    }
    try connection.register(
      signature, aggregate,
      step: { context, count, values in Aggregate.of(context)?.step(context, count, values) },
      final: { context in Aggregate.of(context)?.final(context) })
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

  func step(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
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
      try group.step(arguments)
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
    guard group?.hasFailed != true else { return }
    let context = FunctionContext(context: context, format: format)
    do {
      try context.setResult((group ?? makeGroup()).final())
    } catch {
      context.setError(error)
    }
  }
}

/// The state of one group of rows, whatever its type, in two closures.
private final class Group {
  let step: ([DatabaseValue]) throws -> Void
  let final: () throws -> (any DatabaseValueConvertible)?
  var hasFailed = false

  init(
    step: @escaping ([DatabaseValue]) throws -> Void,
    final: @escaping () throws -> (any DatabaseValueConvertible)?
  ) {
    self.step = step
    self.final = final
  }
}
