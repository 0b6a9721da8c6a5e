import CSQLite
import FoundationEssentials
import Glibc

/// The atomic creation of a database file: it is made under another name beside its own, and renamed when it
/// is complete.
package struct NewFile {
  private let path: String
  private let draft: String

  /// - Parameter path: the path at which the file is to appear. No link is followed.
  init(at path: String) {
    self.path = path
    draft = path + "-" + String(UInt32.random(in: .min ... .max), radix: 16)
  }

  /// Throws `ResultCode.misuse` for a path that no file can have.
  static func checkPath(_ path: String) throws {
    guard !path.isEmpty, path != ":memory:", !path.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a backup needs the path of a file: “\(path)” isn't one")
    }
  }

  /// The path that a chain of symbolic links ends at, whether there is a file or not.
  static func end(ofLinksFrom path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      path =
        target.utf8.first == UInt8(ascii: "/")
        ? target : path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] + target } ?? target
    }
    return path
  }

  /// Calls a closure with the path to write to. Throws before that if the file couldn't be published.
  func make(_ write: (String) throws -> Void) throws {
    try Self.checkLeftovers(of: path)
    do {
      try write(draft)
    } catch let error as DatabaseError {
      throw DatabaseError(
        error.extendedCode, error.message.replacing(draft, with: path), sql: error.sql
      ).at(placeOf: error)
    }
  }

  /// Renames the file to its path, and syncs the folder; false if there is a file of that name by now.
  /// Throws `ResultCode.cannotOpen` if the log or journal of a former file of that name is still there.
  func publish() throws -> Bool { try Self.publish(draft, as: path) }

  /// Variant for any file that is already synced.
  package static func publish(_ draft: String, as path: String) throws -> Bool {
    try removeLeftovers(of: path)
    var code = larder_rename_new(draft, path)
    if code != 0, errno == EINVAL || errno == ENOSYS {
      // Not every file system can rename a file only if the name is free.
      if access(path, F_OK) == 0 { return false }
      code = rename(draft, path)
    }
    guard code == 0 else {
      if errno == EEXIST { return false }
      throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
    }
    try FileLocation.syncFolder(of: path)
    return true
  }

  /// Throws if there is no file of a name, but a log or journal that SQLite would take for the new file's,
  /// and replay over it. It isn't removed: it may be all that is left of the former file's last commits.
  private static func checkLeftovers(of path: String) throws {
    // Looked for before the file: a log that appears later belongs to a file of somebody else.
    let suffixes = ["-wal", "-journal"].filter { holdsContent(path + $0, $0) }
    guard let suffix = suffixes.first, access(path, F_OK) != 0 else { return }
    throw DatabaseError(
      .cannotOpen,
      """
      \(path)\(suffix) belongs to a file that is gone, and would overwrite parts of a new one of that name. \
      It may hold commits that are nowhere else: move it to another name, or remove it
      """)
  }

  /// Throws likewise, and removes the leftovers that hold nothing. A process that still uses the former file
  /// would share them with those that open the new one.
  private static func removeLeftovers(of path: String) throws {
    try checkLeftovers(of: path)
    var status = stat()
    let suffixes = ["-shm", "-wal"].filter { lstat(path + $0, &status) == 0 }
    guard !suffixes.isEmpty, access(path, F_OK) != 0 else { return }
    for suffix in suffixes { unlink(path + suffix) }
  }

  /// Whether SQLite would find changes in a log or journal. A log without frames has at most its header, and
  /// a journal that has ended begins with zeros if it is kept.
  private static func holdsContent(_ path: String, _ suffix: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0, status.st_size > 0 else { return false }
    if suffix == "-wal" { return status.st_size > 32 }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return true }
    defer { close(file) }
    var first: UInt8 = 0
    return pread(file, &first, 1, 0) != 1 || first != 0
  }

  /// Removes the draft and its journals, unless it was published.
  func discard() { Self.remove(draft) }

  /// Removes a database's file, with its journal, log and index.
  package static func remove(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
  }
}
