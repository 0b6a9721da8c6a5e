import CSQLite

// SQL functions of the program's own.

extension Database {
  /// Registers a function for use in SQL.
  ///
  /// ```swift
  /// try db.createFunction("reversed", argumentCount: 1) { arguments in
  ///   String(try String(databaseValue: arguments[0]).reversed())
  /// }
  /// ```
  ///
  /// What it throws makes the statement throw: a ``DatabaseError`` with its code and message, any
  /// other error with its description, in both the arguments' values replaced by `…` unless
  /// ``Configuration/showsArguments`` is on. SQLite heeds the code: after `ResultCode.full`,
  /// `ResultCode.ioError` and the like it rolls back. A date that it returns is in the
  /// connection's format; one among its arguments is read with that ``DateFormat``. Registering a
  /// function anew replaces it. It is called on the thread that runs the statement. See
  /// [Functions](https://www.sqlite.org/appfunc.html).
  ///
  /// - `name`: up to 255 bytes of UTF-8.
  /// - `argumentCount`: 0 to 127, or nil for any number.
  /// - `deterministic`: whether equal arguments always give equal results, which lets SQLite call
  ///     it less often, and use it in indexes.
  /// - `directOnly`: whether it can't be used in the schema: in views, triggers, indexes, checks and
  ///     defaults, which whoever wrote the file has written. A file whose schema calls it can't be
  ///     used then: SQLite reads the schema anew once the function is there, and refuses it.
  ///
  /// Throws `ResultCode.misuse` for a name or a number of arguments that SQLite doesn't allow, and
  /// `ResultCode.busy` where a statement that is running keeps a function from being replaced.
  public func createFunction(
    _ name: String, argumentCount: Int? = nil, deterministic: Bool = true, directOnly: Bool = true,
    _ body: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
  ) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: deterministic, directOnly: directOnly)
    let function = ScalarFunction(
      FunctionFormat(connection), directOnly: signature.needsGuard ? DirectOnlyGuard(name) : nil,
      body)
    try connection.register(
      signature, function,
      call: { context, count, values in
        guard let data = sqlite3_user_data(context) else { return }
        Unmanaged<ScalarFunction>.fromOpaque(data).takeUnretainedValue()
          .call(context, count, values)
      })
  }

  /// Removes a function or an aggregate with this name and number of arguments and, where no number is said, a
  /// ``TableFunction`` or what ``createModule(_:directOnly:isWritable:_:)`` has registered. Does nothing where
  /// there is none. One of SQLite's own that it had replaced stays hidden on this connection. Throws as
  /// ``createFunction(_:argumentCount:deterministic:directOnly:_:)`` does.
  public func removeFunction(_ name: String, argumentCount: Int? = nil) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: false, directOnly: false)
    try connection.register(signature, nil)
    if argumentCount == nil { try connection.removeTables(name) }
  }
}

private final class ScalarFunction {
  private let format: FunctionFormat
  private let directOnly: DirectOnlyGuard?
  private let body: ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?

  init(
    _ format: FunctionFormat, directOnly: DirectOnlyGuard?,
    _ body: @escaping ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
  ) {
    self.format = format
    self.directOnly = directOnly
    self.body = body
  }

  func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    let context = FunctionContext(context: context, format: format)
    var arguments: [DatabaseValue] = []
    do {
      try directOnly?.check(sqlite3_context_db_handle(context.context))
      arguments = try context.arguments(count, values)
      try context.setResult(body(arguments))
    } catch {
      context.setError(error, arguments: arguments)
    }
  }
}
