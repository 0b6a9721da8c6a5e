import FoundationEssentials
import Glibc

/// Bytes on their way to a file, or to the standard output, in large pieces.
///
/// A file is written beside its place, and takes it once it is complete: whatever goes wrong, there is what
/// there was.
package struct ByteOutput: ~Copyable {
  /// What isn't written yet.
  package var bytes: [UInt8]
  private let descriptor: Int32
  private let path: String
  /// Where the file is written; nil where bytes go to their place at once.
  private let draft: String?
  private var isFinished: Bool

  private static let piece = 1 << 16

  /// - Parameters:
  ///   - path: the file's; nil for the standard output.
  ///   - replaces: whether a file that is there already may be replaced.
  package init(path: String?, replaces: Bool = false) throws {
    let opened = try path.map { try Self.open($0, replaces: replaces) }
    // What was printed stands before.
    if path == nil { try Output.finish() }
    descriptor = opened?.descriptor ?? STDOUT_FILENO
    draft = opened?.draft
    self.path = path ?? "the output"
    isFinished = false
    bytes = []
  }

  private static func open(
    _ path: String, replaces: Bool
  ) throws -> (descriptor: Int32, draft: String?) {
    guard !path.isEmpty else { throw Failure(.usage, "the name of the file is empty") }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR {
      throw Failure(.database, "\(path): this is a folder")
    }
    // A pipe or a device stays what it is.
    let isFile = !exists || status.st_mode & S_IFMT == S_IFREG
    guard !isFile || !exists || replaces else {
      throw Failure("\(path): there is a file already; --replace replaces it")
    }
    let draft = isFile ? "\(path).\(getpid())-draft" : nil
    let descriptor = Glibc.open(
      draft ?? path, O_WRONLY | O_CLOEXEC | (isFile ? O_CREAT | O_EXCL : 0), 0o666)
    guard descriptor >= 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    return (descriptor, draft)
  }

  deinit {
    guard draft != nil || descriptor != STDOUT_FILENO else { return }
    if descriptor >= 0 { close(descriptor) }
    if let draft, !isFinished { unlink(draft) }
  }

  /// Writes what there is, if it is much.
  @inline(__always)
  package mutating func writeIfFull() throws {
    if bytes.count >= Self.piece { try write() }
  }

  private mutating func write() throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
          Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        if count < 0, errno == EINTR {
          try Interruption.check()
          continue
        }
        // Whoever has stopped reading needs no more.
        if count < 0, errno == EPIPE { throw Failure("") }
        guard count > 0 else {
          throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
        }
        rest = rest.dropFirst(count)
      }
    }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Writes the rest, and has the file take its place.
  package mutating func finish() throws {
    try write()
    guard let draft else { return }
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    isFinished = true
  }
}
