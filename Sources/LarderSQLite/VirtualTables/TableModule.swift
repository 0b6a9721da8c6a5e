import CSQLite

/// What SQLite calls for virtual tables: a module is registered by its name, and opens tables, which are read by
/// cursors. See [The Virtual Table Mechanism](https://www.sqlite.org/vtab.html).
///
/// What makes the unsafe pointers sound: SQLite owns a module, and releases it when it is replaced or the connection
/// closed; it owns the objects behind its tables and cursors, which it lets go of by `xDisconnect` and `xClose`, and
/// makes no call in between for one that was let go. A table keeps what it needs of its module.
final class TableModule {
  /// What a module needs of its connection, and its tables.
  struct Environment {
    /// Tells SQLite of a table's columns.
    let declare: (String) -> Int32
    let format: () -> StorageFormat
    /// What becomes of an error that was thrown for some arguments.
    let describe: (any Error, [DatabaseValue]) -> (code: ResultCode?, message: String)
    /// Calls a closure of the program's own, which can't close the connection meanwhile.
    let call: (() throws -> Void) throws -> Void
    /// Calls one that can't use the connection at all.
    let callAlone: (() throws -> Void) throws -> Void
  }

  /// Opens a table: by its name, the name of its database, and the texts between the parentheses of
  /// CREATE VIRTUAL TABLE.
  typealias Open = (_ name: String, _ database: String, _ arguments: [String]) throws -> TableShape

  /// How tables come about, and what is done with them.
  enum Kind {
    /// There is one, of the module's name.
    case eponymous
    /// CREATE VIRTUAL TABLE makes them.
    case creatable
    /// The same for tables that can be written to.
    case writable
  }

  private let environment: Environment
  private let open: Open

  init(_ environment: Environment, open: @escaping Open) {
    self.environment = environment
    self.open = open
  }

  /// Registers it in place of one of the same name. SQLite owns it from here on, also when this call fails.
  ///
  func register(_ name: String, _ kind: Kind, on handle: OpaquePointer) -> Int32 {
    let methods =
      switch kind {
      case .eponymous: Self.eponymous
      case .creatable: Self.creatable
      case .writable: Self.writable
      }
    return sqlite3_create_module_v2(
      handle, name, methods,
      Unmanaged.passRetained(self).toOpaque(),
      { module in module.map { Unmanaged<TableModule>.fromOpaque($0).release() } })
  }

  // SQLite reads the methods as long as a connection has the module.
  private nonisolated(unsafe) static let eponymous = methods(.eponymous)
  private nonisolated(unsafe) static let creatable = methods(.creatable)
  private nonisolated(unsafe) static let writable = methods(.writable)

  private typealias Table = UnsafeMutablePointer<sqlite3_vtab>
  private typealias Cursor = UnsafeMutablePointer<sqlite3_vtab_cursor>

  private static func methods(_ kind: Kind) -> UnsafeMutablePointer<sqlite3_module> {
    var methods = sqlite3_module()
    if kind == .writable { methods.addWriting() }
    if kind != .eponymous {
      methods.xCreate = { TableModule.connect($0, $1, $2, $3, $4, $5) }
      methods.xDestroy = { TableModule.disconnect($0) }
    }
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
    let memory = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return memory
  }

  private static func connect(
    _ handle: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ count: Int32,
    _ words: UnsafePointer<UnsafePointer<CChar>?>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  ) -> Int32 {
    guard let data, let result else { return SQLITE_ERROR }
    let module = Unmanaged<TableModule>.fromOpaque(data).takeUnretainedValue()
    // The module's name, the database's, the table's, and what stands in parentheses.
    let texts = UnsafeBufferPointer(start: words, count: Int(count)).map { word in
      word.map { String(cString: $0) } ?? ""
    }
    do {
      var opened: TableShape?
      try module.environment.call {
        opened = try module.open(texts[2], texts[1], Array(texts.dropFirst(3)))
      }
      guard let shape = opened else { return SQLITE_ERROR }
      let code = module.environment.declare(shape.declaration)
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

/// What is behind SQLite's virtual table.
final class OpenTable {
  let shape: TableShape
  let environment: TableModule.Environment
  /// The plans that SQLite knows by their numbers, as long as statements are compiled with them: for good.
  private(set) var plans: [TablePlan] = []
  /// Whether the transaction has changed rows, and the table was told of its beginning.
  @exclusivity(unchecked) var hasChanges = false
  /// Those of rows that are being read.
  @exclusivity(unchecked) var identities = RowIdentities()
  @exclusivity(unchecked) var cursorCount = 0 {
    didSet { if cursorCount == 0 { identities = RowIdentities() } }
  }

  init(_ shape: TableShape, _ environment: TableModule.Environment) {
    self.shape = shape
    self.environment = environment
  }

  /// Calls a closure with the table; what it throws becomes the result code, and the table's message.
  @inline(__always)
  static func of(
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

  /// Chooses how a scan asks for its rows. False where it can't be one.
  func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) -> Bool {
    guard case .request = shape.rows else { return shape.plan(info) }
    let plan = TablePlan(shape.columns, info)
    let number = plans.firstIndex(of: plan) ?? plans.count
    if number == plans.count { plans.append(plan) }
    info.pointee.idxNum = Int32(truncatingIfNeeded: number)
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
