import CSQLite
import Glibc

/// SQLite's preupdate hook, which tells each row before it changes. It is an option of SQLite's build and looked
/// up when it is first needed, so that programs link with libraries that don't have it.
///
/// See [The pre-update hook](https://www.sqlite.org/c3ref/preupdate_blobwrite.html).
///
/// What makes the casts of the symbols sound: the types are those of sqlite3.h, which hides the declarations.
struct PreupdateHook: Sendable {
  typealias Callback =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, sqlite3_int64, sqlite3_int64
    ) -> Void
  typealias Install =
    @convention(c) (OpaquePointer?, Callback?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  typealias Value =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>) -> Int32

  let install: Install
  let oldValue: Value
  let newValue: Value
  /// The column that is written as an open blob; negative otherwise.
  let blobColumn: (@convention(c) (OpaquePointer?) -> Int32)?
  /// How many columns the row has.
  let columnCount: @convention(c) (OpaquePointer?) -> Int32

  /// Nil where the library has none.
  static let found: PreupdateHook? = {
    guard let install = dlsym(nil, "sqlite3_preupdate_hook"),
      let old = dlsym(nil, "sqlite3_preupdate_old"), let new = dlsym(nil, "sqlite3_preupdate_new"),
      let count = dlsym(nil, "sqlite3_preupdate_count")
    else { return nil }
    return PreupdateHook(
      install: unsafeBitCast(install, to: Install.self),
      oldValue: unsafeBitCast(old, to: Value.self), newValue: unsafeBitCast(new, to: Value.self),
      blobColumn: dlsym(nil, "sqlite3_preupdate_blobwrite")
        .map { unsafeBitCast($0, to: (@convention(c) (OpaquePointer?) -> Int32).self) },
      columnCount: unsafeBitCast(count, to: (@convention(c) (OpaquePointer?) -> Int32).self))
  }()

  static func required() throws -> PreupdateHook {
    if let found { return found }
    throw UnsupportedByEngine(
      engine: "SQLite \(String(cString: sqlite3_libversion())), as it was built,",
      feature: "preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK)")
  }
}
