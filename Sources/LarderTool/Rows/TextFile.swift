import FoundationEssentials
import Glibc
import Larder
import LarderTerminal

/// A text file that a command writes atomically.
struct TextFile {
  let path: String
  /// The file's present contents; nil if it doesn't exist.
  let contents: Data?
  private let mode: mode_t?

  /// Reads the file. Throws ``Failure`` for a path that can't be replaced by a file, for databases, and for
  /// their WALs and journals.
  init(_ path: String, besides database: DatabaseFile?) throws {
    try database?.checkIsOther(path)
    for suffix in ["-wal", "-shm", "-journal"] where path.hasSuffix(suffix) {
      throw Failure(.usage, "\(path): a file of this name belongs to a database")
    }
    self.path = path
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw Self.failure(path) }
      (contents, mode) = (nil, nil)
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.database, "\(path): this isn't a regular file, so it can't be written")
    }
    mode = status.st_mode & 0o777
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Failure(.database, "\(path): the file can't be read")
    }
    guard !data.starts(with: "SQLite format 3\0".utf8) else {
      throw Failure(.usage, "\(path): this is a database")
    }
    contents = data
  }

  /// Writes a text to a temporary file, and renames that to the path: readers find the old text or the new
  /// one. Throws ``Failure``.
  func replace(by text: String) throws {
    // A symbolic link stays, and the file that it leads to is replaced.
    let target = Self.end(ofLinksFrom: path)
    var draft = Array((target + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&draft)
    guard descriptor >= 0 else { throw Self.failure(path) }
    let name = String(decoding: draft.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let usual = umask(0)
    umask(usual)
    let file = fdopen(descriptor, "w")
    defer { if let file { fclose(file) } }
    guard let file, fchmod(descriptor, mode ?? 0o666 & ~usual) == 0,
      fwrite(text, 1, text.utf8.count, file) == text.utf8.count,
      fflush(file) == 0, fsync(descriptor) == 0, rename(name, target) == 0
    else {
      let failure = Self.failure(path)
      unlink(name)
      throw failure
    }
  }

  private static func failure(_ path: String) -> Failure {
    Failure(.database, "\(path): \(String(cString: strerror(errno)))")
  }

  private static func end(ofLinksFrom path: String) -> String {
    guard let end = realpath(path, nil) else { return path }
    defer { free(end) }
    return String(cString: end)
  }
}
