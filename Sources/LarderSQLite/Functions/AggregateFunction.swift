import CSQLite

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
  /// Errors, replacing and the parameters are as for
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
    let handle = try connection.check()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: deterministic, directOnly: directOnly)
    let aggregate = Aggregate(FunctionFormat(connection)) {
      GroupOf(initial, step: step, final: final)
    }
    // SQLite owns the aggregate from here on and releases it, also when this call fails.
    // What it replaces is destroyed in this call, and may do anything.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    let code = sqlite3_create_function_v2(
      handle, signature.name, signature.argumentCount, signature.flags,
      Unmanaged.passRetained(aggregate).toOpaque(), nil,
      { context, count, values in Aggregate.of(context)?.step(context, count, values) },
      { context in Aggregate.of(context)?.final(context) },
      { data in data.map { Unmanaged<Aggregate>.fromOpaque($0).release() } })
    guard code == SQLITE_OK else { throw connection.error(code) }
    connection.forgetSchema()
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

/// The state of one group of rows.
private class Group {
  var hasFailed = false
  func step(_ arguments: [DatabaseValue]) throws {}
  func final() throws -> (any DatabaseValueConvertible)? { nil }
}

private final class GroupOf<State>: Group {
  private var state: State
  private let stepBody: (inout State, [DatabaseValue]) throws -> Void
  private let finalBody: (State) throws -> (any DatabaseValueConvertible)?

  init(
    _ state: State, step: @escaping (inout State, [DatabaseValue]) throws -> Void,
    final: @escaping (State) throws -> (any DatabaseValueConvertible)?
  ) {
    self.state = state
    stepBody = step
    finalBody = final
  }

  override func step(_ arguments: [DatabaseValue]) throws { try stepBody(&state, arguments) }

  override func final() throws -> (any DatabaseValueConvertible)? { try finalBody(state) }
}
