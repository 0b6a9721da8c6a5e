import CSQLite

/// SQLite's preupdate hook, which tells each row before it changes: ``OptionalFunctions``.
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
  /// The column that is written as an open blob; negative otherwise.
  let blobColumn: Count?
  /// How many columns the row has.
  let columnCount: Count

  /// Nil where the library has none.
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
}
