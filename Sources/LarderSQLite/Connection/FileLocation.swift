import CSQLite
import Glibc

/// The file that a connection has open: its absolute path and its identity, for further connections
/// to the same file. The path that it was opened with may lead elsewhere by then: the program has
/// changed its folder, or another file has taken the name.
package struct FileLocation: Sendable {
  /// The name that opens the file, whatever folder the program is in: a path, or a URI if the first
  /// connection was opened with one.
  package let name: String
  /// The file's absolute path, in which SQLite has resolved all links.
  package let path: String
  /// The absolute path that the file was opened by, if it is another one: it may lead over links.
  package let link: String?
  /// The file's identity; nil if the file layer has none.
  package let identity: Identity?

  /// The device and inode of a file. No other file gets them as long as this one is open.
  package struct Identity: Hashable, Sendable {
    let device: UInt
    let inode: UInt

    init(_ status: stat) {
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }

    /// The identity of the file at a path, or nil if there is none.
    package init?(ofFileAt path: UnsafePointer<CChar>) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }
  }

  /// What is at a path at which a file was opened.
  enum PathState: Equatable {
    case inPlace
    /// The file or folder at this path was moved or removed, and nothing has taken its place.
    case gone(String)
    /// Another file is at this path.
    case replaced(String)
  }

  /// Looks for a file. An error such as a missing permission says nothing about the file, which then counts
  /// as in place: it is open, and nothing that is written to it is lost.
  static func find(_ identity: Identity, at path: String) -> PathState {
    var status = stat()
    guard stat(path, &status) == 0 else { return isAbsence(errno) ? .gone(path) : .inPlace }
    return Identity(status) == identity ? .inPlace : .replaced(path)
  }

  /// Throws `ResultCode.readOnlyMoved` if the path leads to another file than the one that is open, or to
  /// none.
  func check() throws {
    guard let identity else { return }
    for path in [path, link].compactMap({ $0 })
    where Self.find(identity, at: path) != .inPlace {
      throw Self.movedError(path)
    }
  }

  /// Whether an error says that there is nothing at a path, rather than that this is unknown, such as without the
  /// permission to look.
  static func isAbsence(_ error: Int32) -> Bool { [ENOENT, ENOTDIR, ELOOP].contains(error) }

  /// Whether the path of a connection's database leads to another file than the one that is open, or to none.
  static func hasMoved(_ handle: OpaquePointer, _ schema: String = "main") -> Bool {
    var hasMoved: Int32 = 0
    sqlite3_file_control(handle, schema, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return hasMoved != 0
  }

  static func movedError(_ path: String) -> DatabaseError {
    DatabaseError(
      .readOnlyMoved,
      "the open database file was moved, removed or replaced: it isn't at \(path) any more; "
        + "close the database and open it again")
  }

  /// The absolute path of a connection's database; nil for one in memory, and for a temporary one.
  static func path(of handle: OpaquePointer, _ schema: String = "main") -> String? {
    guard let path = sqlite3_db_filename(handle, schema), path.pointee != 0 else { return nil }
    return String(cString: path)
  }

  /// Syncs the folder of a file, whose new name may otherwise be gone after a loss of power.
  static func syncFolder(of path: String) throws {
    let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    defer { close(folder) }
    guard fsync(folder) == 0 || errno == EINVAL else {
      throw DatabaseError(
        .ioError,
        "\(path) is written, but not known to be durable: \(String(cString: strerror(errno)))")
    }
  }

  /// A path without the file's name at its end.
  static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
  }

  /// The file's name at the end of a path.
  package static func name(at path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) }
      ?? path
  }

  /// The absolute form of a path, with its links and dots as they are.
  static func absolute(_ path: String) -> String {
    guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }
}
