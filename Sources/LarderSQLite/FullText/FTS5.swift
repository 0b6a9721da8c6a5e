import CSQLite

/// FTS5's extension API: a connection's tokenizers and auxiliary functions.
///
/// See [Extending FTS5](https://www.sqlite.org/fts5.html#extending_fts5).
///
/// Pointer safety: the API belongs to the connection. It is fetched for each use, during which the connection
/// is open. FTS5 alone releases registered objects, once the connection is closed.
struct FTS5 {
  /// The callback that a tokenizer calls for each term: flags, the term and its length, its start and end in
  /// the text.
  typealias EmitToken =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, Int32, Int32, Int32
    ) -> Int32

  private let interface: UnsafeMutablePointer<fts5_api>

  /// Fetches the API of a connection; nil if SQLite was built without FTS5.
  init?(_ handle: OpaquePointer) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    var found: UnsafeMutablePointer<fts5_api>?
    let code = withUnsafeMutablePointer(to: &found) { place in
      var code = sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &statement, nil)
      if code == SQLITE_OK {
        // SQLite keeps the type's name without copying it, so it has to live for ever.
        let type: StaticString = "fts5_api_ptr"
        code = type.withUTF8Buffer { name in
          name.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_pointer(statement, 1, place, $0.baseAddress, nil)
          }
        }
      }
      return code == SQLITE_OK ? sqlite3_step(statement) : code
    }
    // If memory is short, FTS5 mustn't be taken for missing.
    if code == SQLITE_NOMEM { throw DatabaseError(.noMemory, "out of memory") }
    guard let found else { return nil }
    interface = found
  }

  /// Registers the tokenizers and functions that each new connection gets.
  ///
  /// - Parameter trustsTables: whether triggers may write to FTS5 tables with built-in tokenizers; see
  ///   ``BuiltinTokenizer``.
  static func install(on handle: OpaquePointer, trustsTables: Bool) throws {
    guard let fts5 = try FTS5(handle) else { return }
    if trustsTables {
      for name in ["unicode61", "ascii", "porter", "trigram"] {
        guard let own = fts5.tokenizer(named: name, trustedOn: handle) else { continue }
        try fts5.register(name, own, own.wrapped)
      }
    }
    try BigramTokenizer.register(with: fts5, trustedOn: trustsTables ? handle : nil)
    try MarkFunctions.install(with: fts5)
  }

  /// Finds one of SQLite's own tokenizers; nil if there is none of that name.
  ///
  /// - Parameter handle: the connection, if triggers may write to tables with the tokenizer; otherwise nil.
  func tokenizer(named name: String, trustedOn handle: OpaquePointer?) -> BuiltinTokenizer? {
    var methods = fts5_tokenizer()
    var context: UnsafeMutableRawPointer?
    let code = interface.pointee.xFindTokenizer?(interface, name, &context, &methods)
    return code == SQLITE_OK ? BuiltinTokenizer(methods, context, handle) : nil
  }

  /// Registers an [auxiliary function](https://www.sqlite.org/fts5.html#custom_auxiliary_functions).
  func register(_ name: String, _ function: fts5_extension_function) throws {
    let code =
      interface.pointee.xCreateFunction?(interface, name, nil, function, nil) ?? SQLITE_ERROR
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }

  /// Registers a tokenizer, which SQLite keeps until the connection is closed. Tables that are opened later
  /// use it instead of one with the same name.
  func register(_ name: String, _ object: AnyObject, _ methods: fts5_tokenizer) throws {
    var methods = methods
    let reference = Unmanaged.passRetained(object)
    let code =
      interface.pointee.xCreateTokenizer?(
        interface, name, reference.toOpaque(), &methods,
        { data in data.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }) ?? SQLITE_ERROR
    guard code == SQLITE_OK else {
      // SQLite doesn't release the object if this fails.
      reference.release()
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }
}

/// One of SQLite's own tokenizers. It marks each table that is opened with it as safe for triggers, if they
/// may write to such tables: those that keep an index up to date need that.
///
/// A connection doesn't trust its [schema](https://www.sqlite.org/pragma.html#pragma_trusted_schema). So its
/// triggers can't write to virtual tables, except those that declare themselves
/// [innocuous](https://www.sqlite.org/c3ref/c_vtab_constraint_support.html). FTS5's tables write only into
/// their own tables, but declare themselves innocuous only in newer versions of SQLite. A table can be marked
/// only while it is opened, when FTS5 creates its tokenizer; that is where this class does it. Nothing else
/// becomes trusted: no function, and no other virtual table. The tokenizing itself, and its speed, stay
/// SQLite's.
final class BuiltinTokenizer {
  let methods: fts5_tokenizer
  private let context: UnsafeMutableRawPointer?
  private let handle: OpaquePointer?

  fileprivate init(
    _ methods: fts5_tokenizer, _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?
  ) {
    self.methods = methods
    self.context = context
    self.handle = handle
  }

  /// Creates the tokenizer of a table that is being opened.
  func create(
    _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ count: Int32,
    _ result: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    if let handle { larder_vtab_is_innocuous(handle) }
    return methods.xCreate?(context, arguments, count, result) ?? SQLITE_ERROR
  }

  /// The functions by which FTS5 creates the tokenizer through this object.
  fileprivate var wrapped: fts5_tokenizer {
    var wrapped = methods
    wrapped.xCreate = { data, arguments, count, result in
      guard let data else { return SQLITE_ERROR }
      return Unmanaged<BuiltinTokenizer>.fromOpaque(data)._withUnsafeGuaranteedRef {
        $0.create(arguments, count, result)
      }
    }
    return wrapped
  }
}
