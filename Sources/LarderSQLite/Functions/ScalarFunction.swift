// Custom SQL functions.

extension Database {
  /// Registers a function for use in SQL.
  ///
  /// ```swift
  /// try db.createFunction("reversed", argumentCount: 1) { arguments in
  ///   String(try String(databaseValue: arguments[0]).reversed())
  /// }
  /// ```
  ///
  /// The function is called on the thread that runs the statement. Its errors become the statement's: a
  /// ``DatabaseError`` with its code and message, any other error with its description. In both, the
  /// arguments' values are replaced by `…` unless ``Configuration/showsArguments`` is on. SQLite acts on the
  /// code: after `ResultCode.full`, `ResultCode.ioError` and the like it rolls back. A returned date is
  /// stored in the connection's ``DateFormat``; read dates among the arguments with the same format.
  /// Registering a function again replaces it. See [Functions](https://www.sqlite.org/appfunc.html).
  ///
  /// - `name`: up to 255 bytes of UTF-8.
  /// - `argumentCount`: 0 to 127, or nil for any number.
  /// - `deterministic`: whether equal arguments always give equal results, which lets SQLite call
  ///     it less often, and use it in indexes.
  /// - `directOnly`: whether the function is barred from the schema: views, triggers, indexes, checks and
  ///   defaults, which come from whoever wrote the file. A file whose schema calls the function can't be used
  ///   then: SQLite reads the schema again once the function is registered, and refuses it.
  ///
  /// Throws `ResultCode.misuse` for a name or a number of arguments that SQLite doesn't allow, and
  /// `ResultCode.busy` if a running statement keeps a function from being replaced.
  public func createFunction(
    _ name: String, argumentCount: Int? = nil, deterministic: Bool = true, directOnly: Bool = true,
    _ body: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
  ) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: deterministic, directOnly: directOnly)
    let format = FunctionFormat(connection)
    let directOnly = directOnly && !deterministic ? DirectOnlyGuard(name) : nil
    try connection.register(
      FunctionEntry(name, signature.argumentCount, flags: signature.flags) { call in
        var arguments: [DatabaseValue] = []
        do {
          try directOnly?.check(call)
          arguments = try format.arguments(of: call)
          try format.setResult(body(arguments), of: call)
        } catch {
          format.setError(error, arguments: arguments, of: call)
        }
      })
  }

  /// Removes the function or aggregate with this name and number of arguments. If no number is given, also
  /// removes a table-valued function and a module, which `LarderVirtualTables` registers. Does nothing
  /// if there is none. A built-in function that it has replaced stays hidden on this connection. Throws like
  /// ``createFunction(_:argumentCount:deterministic:directOnly:_:)``.
  public func removeFunction(_ name: String, argumentCount: Int? = nil) throws {
    _ = try connection.sqlite()
    let signature = try FunctionSignature(
      name, argumentCount, deterministic: false, directOnly: false)
    try connection.register(
      FunctionEntry(name, signature.argumentCount, flags: signature.flags))
    if argumentCount == nil { try connection.removeTables(name) }
  }
}
