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
    let format = FunctionFormat(connection)
    // Adds a row to a group, or removes one.
    func change(_ call: FunctionCall, _ body: (inout State, [DatabaseValue]) throws -> Void) {
      guard let group = call.group({ Group(initial) }) else { return }
      var arguments: [DatabaseValue] = []
      do {
        arguments = try format.arguments(of: call)
        try body(&group.state, arguments)
      } catch {
        group.hasFailed = true
        format.setError(error, arguments: arguments, of: call)
      }
    }
    let aggregate = FunctionEntry.Aggregate(
      step: { change($0, step) },
      inverse: inverse.map { inverse in { change($0, inverse) } }
    ) { call, isLast in
      let group = call.knownGroup(isLast: isLast, as: Group<State>.self)
      guard group?.hasFailed != true else { return }
      do {
        try format.setResult(final(group?.state ?? initial), of: call)
      } catch {
        format.setError(error, of: call)
      }
    }
    try connection.register(
      FunctionEntry(
        name, signature.argumentCount, flags: signature.flags, aggregate: aggregate))
  }
}

/// One group of rows of a custom aggregate.
private final class Group<State> {
  var state: State
  var hasFailed = false

  init(_ state: State) { self.state = state }
}
