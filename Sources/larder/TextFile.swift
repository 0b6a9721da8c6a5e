import FoundationEssentials
import Glibc
import Larder
import LarderTerminal

/// A file of text that a command writes: all of it, or nothing.
struct TextFile {
  let path: String
  /// What it holds; nil where there is none.
  let contents: Data?
  private let mode: mode_t?

  /// Throws ``Failure`` for what can't be replaced by a file, and for databases with what belongs to them.
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
      throw Failure(.database, "\(path): this is no file that could be written")
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

  /// Writes a text into a file beside it, which then takes its name: whoever reads it finds the old text or the
  /// new one.
  func replace(by text: String) throws {
    // Through a link the file is written that it leads to.
    let target = Self.end(ofLinksFrom: path)
    var draft = Array((target + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&draft)
    guard descriptor >= 0 else { throw Self.failure(path) }
    let name = String(decoding: draft.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let usual = umask(0)
    umask(usual)
    do {
      let handle = FileDescriptor(descriptor)
      defer { handle.close() }
      guard fchmod(descriptor, mode ?? 0o666 & ~usual) == 0, handle.write(Array(text.utf8)),
        fsync(descriptor) == 0, rename(name, target) == 0
      else { throw Self.failure(path) }
    } catch {
      unlink(name)
      throw error
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

  private struct FileDescriptor {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    func close() { _ = Glibc.close(number) }

    func write(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
}
