import CSQLite
import Glibc

/// Which file a connection has open: its path from the root, and its identity, for further
/// connections to the same file. The path that it was opened with may lead elsewhere by then: the
/// program has changed its folder, or another file has taken the name.
package struct FileLocation: Sendable {
  /// What opens the file, whatever folder the program is in: a path, or a URI if that is what the
  /// first connection was opened with.
  package let name: String
  /// The file's path from the root, in which SQLite has resolved all links.
  package let path: String
  /// The path that the file was opened by, from the root, where that is another one: it may lead over links.
  package let link: String?
  /// Nil where the file layer has no such thing.
  package let identity: Identity?

  /// The device and the number of a file, which no other file has as long as somebody has this one open.
  package struct Identity: Hashable, Sendable {
    let device: UInt
    let inode: UInt

    init(_ status: stat) {
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }

    /// That of the file at a path, or nil if there is none.
    init?(ofFileAt path: UnsafePointer<CChar>) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }
  }

  /// Throws `ResultCode.readOnlyMoved` where the path leads to another file than the one that is open, or to none.
  func check() throws {
    guard let identity else { return }
    guard Identity(ofFileAt: path) == identity else { throw Self.movedError(path) }
    if let link, Identity(ofFileAt: link) != identity { throw Self.movedError(link) }
  }

  /// Whether the path of a connection's database leads to another file than the one that is open, or to none.
  static func hasMoved(_ handle: OpaquePointer, _ schema: String = "main") -> Bool {
    var hasMoved: Int32 = 0
    sqlite3_file_control(handle, schema, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return hasMoved != 0
  }

  static func movedError(_ path: String) -> DatabaseError {
    DatabaseError(
      .readOnlyMoved,
      "the database file that is open was moved, removed or replaced: it isn't at \(path) any more; "
        + "close the database and open it anew")
  }

  /// A path from the root, with its links and dots as they are.
  fileprivate static func absolute(_ path: String) -> String {
    guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }
}

extension Database {
  /// Opens a further connection to the file that another one has open, which creates nothing, and leaves the
  /// write-ahead log as it is when it is closed: that is for the first one.
  ///
  /// Throws `ResultCode.readOnlyMoved` where the file isn't at its path any more. That is looked at before anything
  /// is opened: SQLite deletes the log beside a file without pages, and moves the log of one file into another that
  /// has taken its name.
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

  /// Which file this connection has open; nil for a database in memory or in a temporary file.
  /// Throws `ResultCode.readOnlyMoved` where the file was moved away, or another has taken its place.
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
