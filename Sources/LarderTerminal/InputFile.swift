import Glibc

/// A file or pipe that is read in pieces. Ctrl-C ends the reading with an error.
package final class InputFile {
  private let descriptor: Int32
  /// The file's name in messages.
  package let path: String
  /// The size in bytes; 0 if this isn't a regular file.
  package let size: Int

  /// Opens a file; `-` is the standard input.
  package init(path: String) throws {
    self.path = path == "-" ? "standard input" : path
    descriptor =
      path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
    try Interruption.check()
    guard descriptor >= 0 else { throw Self.failure(self.path) }
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    guard !isKnown || status.st_mode & S_IFMT != S_IFDIR else {
      errno = EISDIR
      throw Self.failure(self.path)
    }
    size = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends the next piece, of at most `most` bytes. Returns false at the end of the file.
  package func read(
    appendingTo buffer: inout [UInt8], atMost most: Int = 256 << 10
  ) throws -> Bool {
    var count = 0
    repeat {
      try waitUntilReadable()
      let piece = [UInt8](unsafeUninitializedCapacity: most) { piece, initialized in
        count = Glibc.read(descriptor, piece.baseAddress, most)
        initialized = max(0, count)
      }
      buffer += piece
    } while count < 0 && errno == EINTR
    guard count >= 0 else { throw Self.failure(path) }
    return count > 0
  }

  /// Polls with a short timeout: a signal that arrives just before `poll` wouldn't end a longer wait.
  private func waitUntilReadable() throws {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat { try Interruption.check() } while poll(&wanted, 1, 100) <= 0
  }

  private static func failure(_ path: String) -> Failure {
    Failure("\(path): \(String(cString: strerror(errno)))")
  }
}
