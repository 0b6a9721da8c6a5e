import CSQLite
import Glibc

/// Which file a connection has open: its path from the root, and its identity, for further
/// connections to the same file. The path that it was opened with may lead elsewhere by then: the
/// program has changed its folder, or another file has taken the name.
package struct FileLocation: Sendable {
  /// What opens the file, whatever folder the program is in: a path, or a URI if that is what the
  /// first connection was opened with.
  package let name: String
  /// The file's path from the root.
  package let path: String
  /// Nil where the file layer has no such thing.
  package let identity: Identity?

  package struct Identity: Hashable, Sendable {
    let device: UInt
    let inode: UInt

    /// That of the file at a path, or nil if there is none.
    init?(ofFileAt path: UnsafePointer<CChar>) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }
  }
}

extension Database {
  /// Opens a further connection to the file that another one has open. Throws
  /// `ResultCode.cannotOpen` where there is another file at that path by now.
  package convenience init(at location: FileLocation, configuration: Configuration) throws {
    try self.init(path: location.name, configuration: configuration)
    let found = try fileLocation()
    guard found?.identity == location.identity else {
      closeEverything()
      throw DatabaseError(
        .cannotOpen,
        "another file has taken the place of the one that is open: \(location.name)")
    }
  }

  /// Which file this connection has open; nil for a database in memory or in a temporary file.
  /// Throws `ResultCode.cannotOpen` where the file was moved away, or another has taken its place.
  package func fileLocation() throws -> FileLocation? {
    let handle = try connection.sqlite()
    guard let path, let full = sqlite3_db_filename(handle, "main"), full.pointee != 0 else {
      return nil
    }
    let absolute = String(cString: full)
    let isURI = configuration.flags.contains(.uri) && DatabaseURI.isURI(path)
    guard let identity = FileLocation.Identity(ofFileAt: full) else {
      return FileLocation(name: isURI ? path : absolute, path: absolute, identity: nil)
    }
    var hasMoved: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard hasMoved == 0 else {
      throw DatabaseError(.cannotOpen, "the file was moved while it was opened: \(absolute)")
    }
    return FileLocation(
      name: isURI ? DatabaseURI.replacingPath(of: path, by: absolute) : absolute,
      path: absolute, identity: identity)
  }
}
