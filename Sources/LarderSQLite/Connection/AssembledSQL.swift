/// Binds the values of a statement, one after the other.
package struct ArgumentWriter {
  // Unretained: the statement that makes the writer keeps the arena.
  private unowned(unsafe) let arena: BindingArena
  private var index: Int32 = 0

  fileprivate init(_ arena: BindingArena) { self.arena = arena }

  /// Binds the next value.
  package mutating func append(_ value: any DatabaseValueConvertible) throws {
    index &+= 1
    try value.bind(to: ParameterBinder(arena: arena, index: index))
  }

  /// Binds the next value, an integer.
  package mutating func append(_ value: Int) throws {
    index &+= 1
    try ParameterBinder(arena: arena, index: index).bind(Int64(value))
  }

  /// Binds the next values, or NULL.
  package mutating func append(_ values: [(any DatabaseValueConvertible)?]) throws {
    for value in values {
      index &+= 1
      try arena.bind(value, at: index)
    }
  }
}

extension Database {
  /// A statement whose values are bound, which the caller gives back.
  ///
  /// Its text is put together anew each time it runs, in memory of the moment, and becomes a String only where the
  /// statement isn't in the cache.
  ///
  /// - Parameters:
  ///   - write: writes the text.
  ///   - bind: binds the values.
  package func take(
    write: (inout TextWriter) -> Void, bind: (inout ArgumentWriter) throws -> Void
  ) throws -> PreparedStatement {
    _ = try connection.check()
    let (statement, valueCount) = try TextWriter.withBytes(write) { bytes, writer in
      if writer.isCacheable, let known = cache.take(bytes) { return (known, writer.valueCount) }
      return (
        try compile(String(decoding: bytes, as: UTF8.self), isCacheable: writer.isCacheable),
        writer.valueCount
      )
    }
    do {
      try statement.checkCount(valueCount)
      try statement.bind { arena in
        var writer = ArgumentWriter(arena)
        try bind(&writer)
      }
      return statement
    } catch {
      giveBack(statement)
      throw error
    }
  }

  /// A statement with the SQL's own values, which the caller gives back.
  @usableFromInline
  package func take(bound sql: SQL) throws -> PreparedStatement {
    let statement = try take(sql)
    do {
      try statement.bind(sql, Arguments())
      return statement
    } catch {
      giveBack(statement)
      throw error
    }
  }

  /// Calls a closure with a statement that was taken and stands before its first row, and gives it
  /// back then.
  @inlinable
  package func withRows<T>(
    of statement: PreparedStatement, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    defer { giveBack(statement) }
    return try statement.whileStepping(body)
  }
}
