import CSQLite

extension Configuration {
  /// A run-time loadable extension: a shared library with functions, collations or virtual tables, which runs
  /// as part of the program. See [Loadable extensions](https://www.sqlite.org/loadext.html).
  public struct Extension: Hashable, Sendable {
    /// The library's file, or its name, as `dlopen` takes it; `.so` is added if there is no such file.
    public var path: String
    /// The library's entry point; nil for the name that SQLite derives from the file's.
    package var entryPoint: String?

    /// An extension by its path. Nothing is loaded before a database is opened.
    public init(_ path: String, entryPoint: String? = nil) {
      self.path = path
      self.entryPoint = entryPoint
    }
  }
}

extension Database {
  /// Loads the extensions that the configuration names. SQL can't load any: loading is on only during the
  /// program's own call.
  func loadExtensions() throws {
    for wanted in configuration.extensions { try load(wanted) }
  }

  private func load(_ wanted: Configuration.Extension) throws {
    let handle = try connection.sqlite("Configuration.extensions")
    guard !wanted.path.isEmpty, !wanted.path.utf8.contains(0),
      wanted.entryPoint?.utf8.contains(0) != true
    else {
      throw DatabaseError(.misuse, "an extension's path can't be empty or contain a NUL")
    }
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    defer { larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0) }
    var message: UnsafeMutablePointer<CChar>?
    let code = connection.whileCalling {
      sqlite3_load_extension(handle, wanted.path, wanted.entryPoint, &message)
    }
    defer { sqlite3_free(message) }
    guard code != SQLITE_OK else { return }
    let reason = message.map { String(cString: $0) } ?? String(cString: sqlite3_errstr(code))
    throw DatabaseError(
      ResultCode(rawValue: code), "the extension \(wanted.path) can't be loaded: \(reason)")
  }
}
