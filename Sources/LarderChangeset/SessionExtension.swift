import CSQLite
import Larder

/// SQLite's session extension, which records changesets. Looked up by `OptionalFunctions`. It only produces
/// bytes, and is never given any.
///
/// See [The Session Extension](https://www.sqlite.org/sessionintro.html).
struct SessionExtension: Sendable {
  typealias Buffer = UnsafeMutablePointer<UnsafeMutableRawPointer?>
  typealias Handle = OpaquePointer
  typealias Collect =
    @convention(c) (Handle?, UnsafeMutablePointer<Int32>, Buffer) -> Int32

  let create:
    @convention(c) (
      Handle?, UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>
    ) -> Int32
  let delete: @convention(c) (Handle?) -> Void
  let attach: @convention(c) (Handle?, UnsafePointer<CChar>?) -> Int32
  let changeset: Collect
  let patchset: Collect

  /// The extension's functions; nil if the library was built without it.
  static let found = SessionExtension(OptionalFunctions())

  init?(_ functions: OptionalFunctions) {
    guard let create = functions.function("session_create", as: type(of: create)),
      let delete = functions.function("session_delete", as: type(of: delete)),
      let attach = functions.function("session_attach", as: type(of: attach)),
      let changeset = functions.function("session_changeset", as: Collect.self),
      let patchset = functions.function("session_patchset", as: Collect.self)
    else { return nil }
    self.create = create
    self.delete = delete
    self.attach = attach
    self.changeset = changeset
    self.patchset = patchset
  }

  static func required() throws -> SessionExtension {
    if let found { return found }
    throw OptionalFunctions.missing("session extension (SQLITE_ENABLE_SESSION)")
  }
}
