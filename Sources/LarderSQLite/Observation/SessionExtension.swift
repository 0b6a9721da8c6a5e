import CSQLite

/// SQLite's session extension: changesets, made and applied by ``OptionalFunctions``.
///
/// See [The Session Extension](https://www.sqlite.org/sessionintro.html).
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
  static let found = SessionExtension(OptionalFunctions())

  init?(_ functions: OptionalFunctions) {
    guard let create = functions.function("session_create", as: type(of: create)),
      let delete = functions.function("session_delete", as: type(of: delete)),
      let attach = functions.function("session_attach", as: type(of: attach)),
      let changeset = functions.function("session_changeset", as: type(of: changeset)),
      let patchset = functions.function("session_patchset", as: type(of: patchset)),
      let start = functions.function("changeset_start", as: type(of: start)),
      let next = functions.function("changeset_next", as: type(of: next)),
      let operation = functions.function("changeset_op", as: type(of: operation)),
      let primaryKey = functions.function("changeset_pk", as: type(of: primaryKey)),
      let oldValue = functions.function("changeset_old", as: GetValue.self),
      let newValue = functions.function("changeset_new", as: GetValue.self),
      let conflictValue = functions.function("changeset_conflict", as: GetValue.self),
      let finish = functions.function("changeset_finalize", as: type(of: finish)),
      let invert = functions.function("changeset_invert", as: type(of: invert)),
      let concatenate = functions.function("changeset_concat", as: type(of: concatenate)),
      let apply = functions.function("changeset_apply", as: type(of: apply))
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
    throw OptionalFunctions.missing("session extension (SQLITE_ENABLE_SESSION)")
  }
}
