import CSQLite
import Glibc

/// SQLite's session extension: changesets. It is an option of SQLite's build and looked up when it is first
/// needed, so that programs link with libraries that don't have it.
///
/// See [The Session Extension](https://www.sqlite.org/sessionintro.html).
///
/// What makes the casts of the symbols sound: the types are those of sqlite3.h, which hides the declarations.
struct SessionExtension: Sendable {
  typealias Buffer = UnsafeMutablePointer<UnsafeMutableRawPointer?>
  typealias Handle = OpaquePointer
  typealias Result = UnsafeMutablePointer<OpaquePointer?>
  typealias GetValue = @convention(c) (Handle?, Int32, Result) -> Int32
  typealias ConflictCallback = @convention(c) (UnsafeMutableRawPointer?, Int32, Handle?) -> Int32

  let create: @convention(c) (Handle?, UnsafePointer<CChar>, Result) -> Int32
  let delete: @convention(c) (Handle?) -> Void
  let attach: @convention(c) (Handle?, UnsafePointer<CChar>?) -> Int32
  let changeset: @convention(c) (Handle?, UnsafeMutablePointer<Int32>, Buffer) -> Int32
  let patchset: @convention(c) (Handle?, UnsafeMutablePointer<Int32>, Buffer) -> Int32
  let start: @convention(c) (Result, Int32, UnsafeMutableRawPointer?) -> Int32
  let next: @convention(c) (Handle?) -> Int32
  let operation:
    @convention(c) (
      Handle?, UnsafeMutablePointer<UnsafePointer<CChar>?>, UnsafeMutablePointer<Int32>,
      UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
    ) -> Int32
  let primaryKey:
    @convention(c) (
      Handle?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int32>
    ) -> Int32
  let oldValue: GetValue
  let newValue: GetValue
  let conflictValue: GetValue
  let finish: @convention(c) (Handle?) -> Int32
  let invert:
    @convention(c) (Int32, UnsafeRawPointer?, UnsafeMutablePointer<Int32>, Buffer) -> Int32
  let concatenate:
    @convention(c) (
      Int32, UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>,
      Buffer
    ) -> Int32
  let apply:
    @convention(c) (
      Handle?, Int32, UnsafeMutableRawPointer?,
      (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Int32)?,
      ConflictCallback?, UnsafeMutableRawPointer?
    ) -> Int32

  /// Nil where the library has none.
  static let found = SessionExtension { dlsym(nil, $0) }

  init?(_ lookUp: (String) -> UnsafeMutableRawPointer?) {
    func symbol<T>(_ name: String, as type: T.Type = T.self) -> T? {
      lookUp("sqlite3" + name).map { unsafeBitCast($0, to: type) }
    }
    guard let create = symbol("session_create", as: type(of: create)),
      let delete = symbol("session_delete", as: type(of: delete)),
      let attach = symbol("session_attach", as: type(of: attach)),
      let changeset = symbol("session_changeset", as: type(of: changeset)),
      let patchset = symbol("session_patchset", as: type(of: patchset)),
      let start = symbol("changeset_start", as: type(of: start)),
      let next = symbol("changeset_next", as: type(of: next)),
      let operation = symbol("changeset_op", as: type(of: operation)),
      let primaryKey = symbol("changeset_pk", as: type(of: primaryKey)),
      let oldValue = symbol("changeset_old", as: GetValue.self),
      let newValue = symbol("changeset_new", as: GetValue.self),
      let conflictValue = symbol("changeset_conflict", as: GetValue.self),
      let finish = symbol("changeset_finalize", as: type(of: finish)),
      let invert = symbol("changeset_invert", as: type(of: invert)),
      let concatenate = symbol("changeset_concat", as: type(of: concatenate)),
      let apply = symbol("changeset_apply", as: type(of: apply))
    else { return nil }
    self.create = create
    self.delete = delete
    self.attach = attach
    self.changeset = changeset
    self.patchset = patchset
    self.start = start
    self.next = next
    self.operation = operation
    self.primaryKey = primaryKey
    self.oldValue = oldValue
    self.newValue = newValue
    self.conflictValue = conflictValue
    self.finish = finish
    self.invert = invert
    self.concatenate = concatenate
    self.apply = apply
  }

  static func required() throws -> SessionExtension {
    if let found { return found }
    throw UnsupportedByEngine(
      engine: "SQLite \(String(cString: sqlite3_libversion())), as it was built,",
      feature: "session extension (SQLITE_ENABLE_SESSION)")
  }
}
