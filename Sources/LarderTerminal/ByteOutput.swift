import FoundationEssentials
import Glibc

/// Buffered output to a file or to the standard output, written in large pieces.
///
/// A file is written to a draft beside it, which replaces it by a rename once it is complete. If anything
/// goes wrong, the old file is untouched.
package struct ByteOutput: ~Copyable {
  package var bytes: [UInt8]
  private let descriptor: Int32
  private let path: String
  /// The draft's path; nil if bytes go straight to the standard output, a pipe or a device.
  private let draft: String?
  private var isFinished: Bool

  private static let piece = 1 << 16

  /// - Parameters:
  ///   - path: the file's path; nil for the standard output.
  ///   - replaces: whether an existing file may be replaced.
  package init(path: String?, replaces: Bool = false) throws {
    let opened = try path.map { try Self.open($0, replaces: replaces) }
    // Flushes what was printed, so that it comes before these bytes.
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
    // A pipe or a device is written to in place, never replaced.
    let isFile = !exists || status.st_mode & S_IFMT == S_IFREG
    guard !isFile || !exists || replaces else {
      throw Failure("\(path): the file exists already; use --replace to replace it")
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

  /// Writes the buffer once it holds 64 KiB.
  @inline(__always)
  package mutating func writeIfFull() throws {
    if bytes.count >= Self.piece { try write() }
  }

  private mutating func write() throws {
    guard try bytes.write(to: descriptor, onSignal: Interruption.check) else {
      // The reader has closed the pipe and wants no more: no error text.
      if errno == EPIPE { throw Failure("") }
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Writes the rest, syncs, and renames the draft to the file's path.
  package mutating func finish() throws {
    try write()
    guard let draft else { return }
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    isFinished = true
  }
}
