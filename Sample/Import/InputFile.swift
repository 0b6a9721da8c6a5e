import Glibc

/// A file or pipe that is read in pieces. An interrupt ends the reading.
final class InputFile {
  private let descriptor: Int32
  private let path: String
  /// In bytes; 0 for what isn't a file.
  let size: Int

  init(path: String) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try Interruption.check()
    guard descriptor >= 0 else { throw Self.failure(path) }
    var status = stat()
    size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends the next piece. Returns false at the end.
  func read(appendingTo buffer: inout [UInt8]) throws -> Bool {
    let most = 256 << 10
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

  /// Waits in short turns: an interrupt that comes just before the waiting begins doesn't end it.
  private func waitUntilReadable() throws {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat { try Interruption.check() } while poll(&wanted, 1, 100) <= 0
  }

  private static func failure(_ path: String) -> Failure {
    Failure("\(path): \(String(cString: strerror(errno)))")
  }
}
