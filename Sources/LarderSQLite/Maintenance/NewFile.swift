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

  /// Calls a closure with the path to write to.
  func make(_ write: (String) throws -> Void) throws {
    do {
      try write(draft)
    } catch let error as DatabaseError {
      throw DatabaseError(
        error.extendedCode, error.message.replacing(draft, with: path), sql: error.sql)
    }
  }

  /// Renames the file to its path, and syncs the folder; false if there is a file of that name by now.
  func publish() throws -> Bool { try Self.publish(draft, as: path) }

  /// Variant for any file that is already synced.
  package static func publish(_ draft: String, as path: String) throws -> Bool {
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

  /// Removes the draft and its journals, unless it was published.
  func discard() {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
  }
}
