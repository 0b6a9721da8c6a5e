import CSQLite

/// A cursor of a virtual table: one scan, which reads the rows of a sequence one by one.
///
/// See ``TableModule`` for pointer safety. SQLite makes no calls to a cursor during another one.
final class TableCursor {
  private let table: OpenTable
  @exclusivity(unchecked) private var rows: TableRows?
  @exclusivity(unchecked) private var arguments: [DatabaseValue?] = []
  /// Gives the scan's remaining requests, one by one, if its rows are requested.
  private var nextRequest: (() -> TableRequest?)?
  /// The identity of rows that are bound to the first argument, whose value SQL sees as NULL.
  private var boundRows: ObjectIdentifier?
  private var identity = Identity()
  /// The arena of the results that are passed to SQLite.
  private let arena: BindingArena

  init(_ table: OpenTable) {
    self.table = table
    arena = BindingArena(resultsIn: table.environment.storageFormat)
  }

  @inline(__always)
  static func memory(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?
  ) -> UnsafeMutablePointer<larder_vtab_cursor>? {
    UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: larder_vtab_cursor.self)
  }

  /// Calls a closure with the cursor. An error becomes the result code and the table's message.
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

  /// Tells the table that this cursor is closed.
  func close() { table.cursorCount -= 1 }

  /// Releases the rows and their resources at once, rather than when the statement ends.
  private func end(_ memory: UnsafeMutablePointer<larder_vtab_cursor>) {
    memory.pointee.rows = nil
    rows = nil
  }

  /// Begins a scan, before its first row.
  func begin(
    _ memory: UnsafeMutablePointer<larder_vtab_cursor>, _ plan: Int32, _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) throws {
    end(memory)
    identity = Identity()
    memory.pointee.row = 0
    memory.pointee.arena = Unmanaged.passUnretained(arena).toOpaque()
    begin(memory, try rows(plan, UnsafeBufferPointer(start: values, count: Int(count))))
  }

  private func begin(
    _ memory: UnsafeMutablePointer<larder_vtab_cursor>, _ rows: TableRows?
  ) {
    self.rows = rows
    memory.pointee.rows = rows.map { Unmanaged.passUnretained($0).toOpaque() }
    memory.pointee.column_count = Int32(truncatingIfNeeded: rows?.columns.count ?? 0)
  }

  /// The rows of a scan; nil if there are none.
  private func rows(
    _ plan: Int32, _ values: UnsafeBufferPointer<OpaquePointer?>
  ) throws -> TableRows? {
    let shape = table.shape
    let format = table.environment.storageFormat
    switch shape.rows {
    case .call(let make):
      var values = values.makeIterator()
      let found = shape.parameters.indices.map { number -> OpaquePointer? in
        plan & (1 << Int32(number)) != 0 ? values.next() ?? nil : nil
      }
      let given = TableArguments(values: found, format: format)
      try shape.check(given)
      arguments = try given.all()
      boundRows = given.boundRows.map(ObjectIdentifier.init)
      return try table.environment.whileReadingTable { try make(given) }
    case .request:
      nextRequest = try table.requests?.scan(Int(plan), values, format)
      return try nextRows()
    }
  }

  /// The rows of the scan's next request; nil if there is none.
  private func nextRows() throws -> TableRows? {
    guard let request = nextRequest?() else { return nil }
    arguments = request.values
    return try table.environment.whileReadingTable(request.makeRows)
  }

  /// Moves to the first row of the next request that has one, once a request's rows are exhausted.
  private func goOn(_ memory: UnsafeMutablePointer<larder_vtab_cursor>) throws {
    end(memory)
    while let rows = try nextRows() {
      begin(memory, rows)
      if try rows.next() { return }
      end(memory)
    }
  }

  /// Moves to the next row.
  @inline(__always)
  static func next(_ memory: UnsafeMutablePointer<larder_vtab_cursor>) -> Int32 {
    guard let rows = memory.pointee.rows else { return SQLITE_OK }
    do {
      // Retaining the rows would take as long as moving to the next one. The cursor keeps them alive.
      let hasRow = try Unmanaged<TableRows>.fromOpaque(rows)._withUnsafeGuaranteedRef {
        try $0.next()
      }
      memory.pointee.row &+= 1
      return hasRow ? SQLITE_OK : of(memory) { try $0.goOn(memory) }
    } catch {
      return of(memory) { _ in throw error }
    }
  }

  /// Passes the value of a column of the current row to SQLite.
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
    // Bound rows have fewer columns than their table, so there may be no such argument.
    let value = arguments.indices.contains(number) ? arguments[number] : nil
    arena.current = context
    try (value ?? .null).bind(to: ParameterBinder(arena: arena, index: 1))
  }
}

extension TableCursor {
  /// The state for row ids of a scan, used once SQLite asks for one.
  private struct Identity {
    /// The number by which the scan's arguments are told from those of the table's other scans.
    var arguments: Int64?
    /// How many rows with each content the scan has had.
    var counts: [[UInt8]: Int] = [:]
    /// The number of the row that has the last id.
    var row: Int64 = 0
    var id: Int64 = 0
  }

  /// The row id of the row with this number in the scan. Each scan of a statement that finds the row gives
  /// the same id.
  func rowID(ofRow number: Int64) throws -> Int64 {
    if identity.row == number { return identity.id }
    identity.row = number
    switch table.shape.rows {
    case .call:
      // Scans with equal arguments give the same rows in the same order.
      identity.id = argumentNumber() << 40 &+ number
    case .request where table.requests?.hasAccess == true:
      let content = rows?.list?().identity ?? []
      let count = identity.counts[content, default: 0]
      identity.counts[content] = count + 1
      identity.id = table.identities.id(of: content, copy: count)
    case .request:
      identity.id = number
    }
    return identity.id
  }

  private func argumentNumber() -> Int64 {
    if arguments.isEmpty { return 0 }
    if let number = identity.arguments { return number }
    var content = arguments.map { $0 ?? .null }.identity
    if let boundRows { content += "\(UInt(bitPattern: boundRows))".utf8 }
    let number = table.identities.id(of: content, copy: 0) - 1
    identity.arguments = number
    return number
  }
}
