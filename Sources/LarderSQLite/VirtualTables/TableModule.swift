import CSQLite

/// The connection's services for modules, their tables, and tokenizers.
package protocol TableEnvironment: AnyObject {
  var storageFormat: StorageFormat { get }
  /// Declares a table's columns to SQLite.
  func declareTable(_ declaration: String) -> Int32
  /// Converts an error that was thrown for some arguments to a result code and a message.
  func describe(
    _ error: any Error, _ arguments: [DatabaseValue]
  ) -> (code: ResultCode?, message: String)
  /// Calls one of the program's closures, during which the connection can't be closed.
  func whileReadingTable<T>(_ body: () throws -> T) throws -> T
  /// Calls a closure that can't use the connection at all.
  func whileBlocked<T>(_ body: () throws -> T) rethrows -> T
}

/// A module of virtual tables, which SQLite calls by a table of functions. It is registered by its name and
/// opens tables, which cursors read. See [The Virtual Table Mechanism](https://www.sqlite.org/vtab.html).
///
/// Pointer safety: SQLite owns a module, and releases it when it is replaced or the connection is closed. It
/// owns the objects behind the module's tables and cursors, releases them by `xDisconnect` and `xClose`, and
/// makes no call for a released one. A table keeps what it needs of its module.
package final class TableModule {
  /// Opens a table, given its name, the name of its database, and the arguments in the parentheses of CREATE
  /// VIRTUAL TABLE.
  package typealias Open = (_ name: String, _ database: String, _ arguments: [String]) throws ->
    TableShape

  private unowned let environment: any TableEnvironment
  private let open: Open

  init(_ environment: any TableEnvironment, open: @escaping Open) {
    self.environment = environment
    self.open = open
  }

  /// Registers the module, replacing one of the same name. SQLite owns it from now on, even if this call
  /// fails.
  ///
  /// - Parameter methods: SQLite's functions for it, as long as a connection has the module.
  func register(
    _ name: String, _ methods: UnsafePointer<sqlite3_module>, on handle: OpaquePointer
  ) -> Int32 {
    sqlite3_create_module_v2(
      handle, name, methods,
      Unmanaged.passRetained(self).toOpaque(),
      { module in module.map { Unmanaged<TableModule>.fromOpaque($0).release() } })
  }

  /// The functions of a module that has one table, with its own name.
  package nonisolated(unsafe) static let eponymous = methods { _ in }

  /// Makes the functions of modules. They are never freed.
  ///
  /// - Parameter add: adds those of modules whose tables are created, or written.
  package static func methods(
    _ add: (inout sqlite3_module) -> Void
  ) -> UnsafePointer<sqlite3_module> {
    var methods = sqlite3_module()
    methods.xConnect = { TableModule.connect($0, $1, $2, $3, $4, $5) }
    methods.xDisconnect = { TableModule.disconnect($0) }
    methods.xBestIndex = { table, info in
      guard let table, let info else { return SQLITE_ERROR }
      return OpenTable.of(table) { $0.plan(info) ? SQLITE_OK : SQLITE_CONSTRAINT }
    }
    methods.xOpen = { table, result in
      guard let table, let result else { return SQLITE_ERROR }
      return OpenTable.of(table) { open in
        let cursor = UnsafeMutablePointer<larder_vtab_cursor>.allocate(capacity: 1)
        cursor.initialize(to: larder_vtab_cursor())
        cursor.pointee.object = Unmanaged.passRetained(TableCursor(open)).toOpaque()
        open.cursorCount += 1
        result.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(
          to: sqlite3_vtab_cursor.self)
        return SQLITE_OK
      }
    }
    methods.xClose = { cursor in
      guard let cursor = TableCursor.memory(cursor) else { return SQLITE_OK }
      let object = Unmanaged<TableCursor>.fromOpaque(cursor.pointee.object)
      object._withUnsafeGuaranteedRef { $0.close() }
      object.release()
      cursor.deallocate()
      return SQLITE_OK
    }
    methods.xFilter = { cursor, plan, _, count, values in
      guard let cursor = TableCursor.memory(cursor) else { return SQLITE_ERROR }
      let code = TableCursor.of(cursor) { try $0.begin(cursor, plan, count, values) }
      return code == SQLITE_OK ? TableCursor.next(cursor) : code
    }
    methods.xNext = { cursor in
      guard let cursor = TableCursor.memory(cursor) else { return SQLITE_ERROR }
      return TableCursor.next(cursor)
    }
    methods.xEof = { TableCursor.memory($0)?.pointee.rows == nil ? 1 : 0 }
    methods.xColumn = { cursor, context, column in
      guard let cursor = TableCursor.memory(cursor), let context else { return SQLITE_ERROR }
      return TableCursor.write(cursor, column, context)
    }
    methods.xRowid = { cursor, rowID in
      guard let cursor = TableCursor.memory(cursor) else { return SQLITE_ERROR }
      return TableCursor.of(cursor) {
        rowID?.pointee = try $0.rowID(ofRow: cursor.pointee.row)
      }
    }
    add(&methods)
    let memory = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return UnsafePointer(memory)
  }

  private static func connect(
    _ handle: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ count: Int32,
    _ words: UnsafePointer<UnsafePointer<CChar>?>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  ) -> Int32 {
    guard let data, let result else { return SQLITE_ERROR }
    let module = Unmanaged<TableModule>.fromOpaque(data).takeUnretainedValue()
    // The words are the names of the module, the database and the table, then the arguments.
    let texts = UnsafeBufferPointer(start: words, count: Int(count)).map { word in
      word.map { String(cString: $0) } ?? ""
    }
    do {
      let shape = try module.environment.whileReadingTable {
        try module.open(texts[2], texts[1], Array(texts.dropFirst(3)))
      }
      let code = module.environment.declareTable(shape.declaration)
      guard code == SQLITE_OK else { return code }
      if shape.isDirectOnly { larder_vtab_is_direct_only(handle) }
      let table = UnsafeMutablePointer<larder_vtab>.allocate(capacity: 1)
      table.initialize(to: larder_vtab())
      table.pointee.object =
        Unmanaged.passRetained(OpenTable(shape, module.environment)).toOpaque()
      result.pointee = UnsafeMutableRawPointer(table).assumingMemoryBound(to: sqlite3_vtab.self)
      return SQLITE_OK
    } catch {
      let failure = module.environment.describe(error, [])
      message?.pointee = larder_copy_text(failure.message)
      return (failure.code ?? .error).rawValue
    }
  }

  private static func disconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    guard let table else { return SQLITE_OK }
    let memory = UnsafeMutableRawPointer(table).assumingMemoryBound(to: larder_vtab.self)
    sqlite3_free(memory.pointee.base.zErrMsg)
    Unmanaged<OpenTable>.fromOpaque(memory.pointee.object).release()
    memory.deallocate()
    return SQLITE_OK
  }
}

/// The object behind SQLite's virtual table.
package final class OpenTable {
  let shape: TableShape
  package unowned let environment: any TableEnvironment
  /// Answers the requests for its rows; nil for a function's table.
  package let requests: (any TableRequests)?
  /// The row ids of the current scans; reset when the last cursor is closed.
  @exclusivity(unchecked) var identities = RowIdentities()
  @exclusivity(unchecked) var cursorCount = 0 {
    didSet { if cursorCount == 0 { identities = RowIdentities() } }
  }

  init(_ shape: TableShape, _ environment: any TableEnvironment) {
    self.shape = shape
    self.environment = environment
    requests = if case .request(let make) = shape.rows { make() } else { nil }
  }

  /// Calls a closure with the table. An error becomes the result code and the table's message.
  @inline(__always)
  package static func of(
    _ table: UnsafeMutablePointer<sqlite3_vtab>, _ body: (OpenTable) throws -> Int32
  ) -> Int32 {
    let memory = UnsafeMutableRawPointer(table).assumingMemoryBound(to: larder_vtab.self)
    return Unmanaged<OpenTable>.fromOpaque(memory.pointee.object)._withUnsafeGuaranteedRef { open in
      do {
        return try body(open)
      } catch {
        return open.fail(error, [], table)
      }
    }
  }

  /// Chooses a plan for a scan. Returns false if the constraints allow none.
  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Bool {
    guard let requests else { return shape.plan(info) }
    info.pointee.idxNum = Int32(truncatingIfNeeded: requests.plan(info))
    return true
  }

  func fail(
    _ error: any Error, _ arguments: [DatabaseValue], _ table: UnsafeMutablePointer<sqlite3_vtab>
  ) -> Int32 {
    let failure = environment.describe(error, arguments)
    sqlite3_free(table.pointee.zErrMsg)
    table.pointee.zErrMsg = larder_copy_text(failure.message)
    return (failure.code ?? .error).rawValue
  }
}
