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
      FunctionEntry(
        custom: name, argumentCount, deterministic: deterministic, directOnly: directOnly,
        object: aggregate,
        aggregate: .init(
          step: { Aggregate.change(FunctionCall($0, $1, $2)) { try $0.step($1) } },
          final: { Aggregate.answer(FunctionCall($0), isLast: true) },
          value: { Aggregate.answer(FunctionCall($0), isLast: false) },
          inverse: inverse == nil
            ? nil : { Aggregate.change(FunctionCall($0, $1, $2)) { try $0.inverse($1) } })))
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

  /// Adds a row to a group, or removes one.
  static func change(
    _ call: FunctionCall, _ body: (Group, [DatabaseValue]) throws -> Void
  ) {
    guard let aggregate = call.object(as: Aggregate.self),
      let group = call.group(aggregate.makeGroup)
    else { return }
    var arguments: [DatabaseValue] = []
    do {
      arguments = try aggregate.format.arguments(of: call)
      try body(group, arguments)
    } catch {
      group.hasFailed = true
      aggregate.format.setError(error, arguments: arguments, of: call)
    }
  }

  /// Sets the result of a group, or of a window's frame, after which the group continues. The last call
  /// releases the group, also after an error.
  static func answer(_ call: FunctionCall, isLast: Bool) {
    guard let aggregate = call.object(as: Aggregate.self) else { return }
    let group = call.knownGroup(isLast: isLast, as: Group.self)
    guard group?.hasFailed != true else { return }
    do {
      try aggregate.format.setResult((group ?? aggregate.makeGroup()).final(), of: call)
    } catch {
      aggregate.format.setError(error, of: call)
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
