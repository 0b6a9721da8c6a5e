import CSQLite

/// One reading of a virtual table: the sequence that gives its rows, one by one.
///
/// See ``TableModule`` for what makes its pointers sound. SQLite doesn't use a cursor while it is in use.
final class TableCursor {
  private let table: OpenTable
  @exclusivity(unchecked) private var rows: TableRows?
  @exclusivity(unchecked) private var arguments: [DatabaseValue?] = []
  /// What values are given to: results of SQLite's calls.
  private let arena: BindingArena

  init(_ table: OpenTable) {
    self.table = table
    arena = BindingArena(resultsIn: table.environment.format())
  }

  @inline(__always)
  static func memory(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?
  ) -> UnsafeMutablePointer<larder_vtab_cursor>? {
    UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: larder_vtab_cursor.self)
  }

  /// Calls a closure with the cursor; what it throws becomes the result code, and the table's message.
  static func of(
    _ memory: UnsafeMutablePointer<larder_vtab_cursor>, _ body: (TableCursor) throws -> Void
  ) -> Int32 {
    Unmanaged<TableCursor>.fromOpaque(memory.pointee.object)._withUnsafeGuaranteedRef { cursor in
      do {
        try body(cursor)
        return SQLITE_OK
      } catch {
        return cursor.fail(error, memory)
      }
    }
  }

  private func fail(
    _ error: any Error, _ memory: UnsafeMutablePointer<larder_vtab_cursor>
  ) -> Int32 {
    end(memory)
    return table.fail(error, arguments.compactMap(\.self), memory.pointee.base.pVtab)
  }

  /// Closes what the rows have open: now, and not when the statement ends.
  private func end(_ memory: UnsafeMutablePointer<larder_vtab_cursor>) {
    memory.pointee.rows = nil
    rows = nil
  }

  /// Asks for rows, and goes to the first.
  func begin(
    _ memory: UnsafeMutablePointer<larder_vtab_cursor>, _ plan: Int32, _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) throws {
    end(memory)
    var values = UnsafeBufferPointer(start: values, count: Int(count)).makeIterator()
    let found = table.shape.parameters.indices.map { number -> OpaquePointer? in
      plan & (1 << Int32(number)) != 0 ? values.next() ?? nil : nil
    }
    let given = TableArguments(values: found, format: table.environment.format())
    try table.shape.check(given)
    arguments = try given.all()
    var rows: TableRows?
    try table.environment.call { rows = try table.shape.rows(given) }
    self.rows = rows
    memory.pointee.rows = rows.map { Unmanaged.passUnretained($0).toOpaque() }
    memory.pointee.row = 0
    memory.pointee.arena = Unmanaged.passUnretained(arena).toOpaque()
    memory.pointee.column_count = Int32(truncatingIfNeeded: rows?.columns.count ?? 0)
  }

  /// Goes to the next row.
  @inline(__always)
  static func next(_ memory: UnsafeMutablePointer<larder_vtab_cursor>) -> Int32 {
    guard let rows = memory.pointee.rows else { return SQLITE_OK }
    do {
      // Retaining the rows would take as long as going to the next; the cursor keeps them.
      let hasRow = try Unmanaged<TableRows>.fromOpaque(rows)._withUnsafeGuaranteedRef {
        try $0.next()
      }
      memory.pointee.row &+= 1
      return hasRow ? SQLITE_OK : of(memory) { $0.end(memory) }
    } catch {
      return of(memory) { _ in throw error }
    }
  }

  /// Gives SQLite the value of a column of the row.
  @inline(__always)
  static func write(
    _ memory: UnsafeMutablePointer<larder_vtab_cursor>, _ column: Int32, _ context: OpaquePointer
  ) -> Int32 {
    guard let rows = memory.pointee.rows else { return SQLITE_OK }
    guard column < memory.pointee.column_count else {
      return of(memory) { try $0.writeArgument(Int(column), context) }
    }
    do {
      try Unmanaged<TableRows>.fromOpaque(rows)._withUnsafeGuaranteedRef {
        try $0.write(Int(column), to: context, memory.pointee.arena)
      }
      return SQLITE_OK
    } catch {
      return of(memory) { _ in throw error }
    }
  }

  private func writeArgument(_ column: Int, _ context: OpaquePointer) throws {
    let number = column - table.shape.columns.count
    let given = zip(table.shape.parameters, arguments).filter { $0.0.column == nil }
    // Rows that are bound have fewer columns than their table.
    let value = given.indices.contains(number) ? given[number].1 : nil
    arena.statement = context
    try (value ?? .null).bind(to: ParameterBinder(arena: arena, index: 1))
  }
}
