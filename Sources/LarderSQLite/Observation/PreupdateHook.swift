import CSQLite

/// SQLite's preupdate hook, which reports each row before it changes. Looked up by ``OptionalFunctions``.
///
/// See [The pre-update hook](https://www.sqlite.org/c3ref/preupdate_blobwrite.html).
struct PreupdateHook: Sendable {
  typealias Callback =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, sqlite3_int64, sqlite3_int64
    ) -> Void
  typealias Count = @convention(c) (OpaquePointer?) -> Int32
  typealias Install =
    @convention(c) (OpaquePointer?, Callback?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  typealias Value =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>) -> Int32

  let install: Install
  let oldValue: Value
  let newValue: Value
  /// The column that is written through an open blob; negative otherwise.
  let blobColumn: Count?
  /// The number of the row's columns.
  let columnCount: Count

  /// The hook's functions; nil if the library was built without it.
  static let found: PreupdateHook? = {
    let functions = OptionalFunctions()
    guard let install = functions.function("_preupdate_hook", as: Install.self),
      let old = functions.function("_preupdate_old", as: Value.self),
      let new = functions.function("_preupdate_new", as: Value.self),
      let count = functions.function("_preupdate_count", as: Count.self)
    else { return nil }
    return PreupdateHook(
      install: install, oldValue: old, newValue: new,
      blobColumn: functions.function("_preupdate_blobwrite", as: Count.self), columnCount: count)
  }()

  static func required() throws -> PreupdateHook {
    if let found { return found }
    throw OptionalFunctions.missing("preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK)")
  }

  /// Whether the library has a bug of older versions: in a WITHOUT ROWID table, they report old integers as
  /// REAL if a REAL column had their position before the key's columns were moved to the front. Determined by
  /// a test, once.
  static let tellsIntegersAsReal: Bool = {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    let sql =
      "CREATE TABLE t (r REAL, k INTEGER PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (0.5, 1)"
    guard let found, sqlite3_open(":memory:", &handle) == SQLITE_OK,
      sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
    else { return true }
    var type = SQLITE_FLOAT
    withUnsafeMutableBytes(of: &type) { type in
      let look: Callback = { type, handle, _, _, _, _, _ in
        var value: OpaquePointer?
        guard PreupdateHook.found?.oldValue(handle, 1, &value) == SQLITE_OK, let value else {
          return
        }
        type?.storeBytes(of: sqlite3_value_type(value), as: Int32.self)
      }
      _ = found.install(handle, look, type.baseAddress)
      sqlite3_exec(handle, "DELETE FROM t", nil, nil, nil)
      // The pointer is valid only within this closure.
      _ = found.install(handle, nil, nil)
    }
    return type == SQLITE_FLOAT
  }()
}
