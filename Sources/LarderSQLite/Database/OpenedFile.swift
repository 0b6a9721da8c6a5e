import CSQLite

extension Database {
  /// Opens a further connection to a file that another one has open. It creates nothing, and leaves the
  /// write-ahead log as it is when it is closed: the first connection takes care of that.
  ///
  /// Throws `ResultCode.readOnlyMoved` if the file isn't at its path any more. That is checked before
  /// anything is opened: SQLite deletes the log beside a file without pages, and moves the log of one file
  /// into another that has taken its name.
  package convenience init(at location: FileLocation, configuration: Configuration) throws {
    var configuration = configuration
    configuration.flags.remove(.create)
    try location.check()
    self.init(
      connection: try ConnectionOpening.open(path: location.name, configuration: configuration),
      path: location.name, configuration: configuration)
    // Nothing has been read so far, so that closing touches neither the file nor a log.
    try location.check()
    guard let handle = connection.usableHandle, !FileLocation.hasMoved(handle) else {
      throw FileLocation.movedError(location.path)
    }
    connection.keepLogOnClose()
    try setUp(configuration)
  }

  /// The file that this connection has open; nil for a database in memory or in a temporary file.
  /// Throws `ResultCode.readOnlyMoved` if the file was moved away, or another has taken its place.
  package func fileLocation() throws -> FileLocation? {
    let handle = try connection.sqlite()
    guard let path, let full = sqlite3_db_filename(handle, "main"), full.pointee != 0 else {
      return nil
    }
    let absolute = String(cString: full)
    let isURI = configuration.flags.contains(.uri) && DatabaseURI.isURI(path)
    let given = isURI ? absolute : FileLocation.absolute(path)
    guard let identity = FileLocation.Identity(ofFileAt: full) else {
      return FileLocation(name: isURI ? path : absolute, path: absolute, link: nil, identity: nil)
    }
    guard !FileLocation.hasMoved(handle) else { throw FileLocation.movedError(absolute) }
    return FileLocation(
      name: isURI ? DatabaseURI.replacingPath(of: path, by: absolute) : absolute,
      path: absolute, link: given.isSame(as: absolute) ? nil : given, identity: identity)
  }
}
