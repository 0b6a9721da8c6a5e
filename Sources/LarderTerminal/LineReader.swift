import Glibc

/// Reads a file line by line, in pieces. Lines end with LF, or CR and LF.
package final class LineReader: RecordReader {
  package private(set) var line = 0
  private var input: InputBuffer
  private let mostBytes: Int
  private var range = 0..<0

  /// - Parameters:
  ///   - path: the file's path; `-` for the standard input.
  ///   - mostBytes: the length limit of a line.
  package init(path: String, mostBytes: Int) throws {
    input = try InputBuffer(path: path)
    self.mostBytes = mostBytes
  }

  package var partRead: Double { input.partRead }

  package func next() throws -> Bool {
    line = input.nextLine
    // The number of bytes of the line that are known to hold no line end.
    var searched = 0
    while true {
      let start = input.start
      if let end = end(from: start + searched) {
        let hasReturn = end > start && input.bytes[end - 1] == UInt8(ascii: "\r")
        range = start..<(hasReturn ? end - 1 : end)
        input.advance(to: min(end + 1, input.bytes.count), lines: 1)
        return true
      }
      if input.isAtEnd { return false }
      searched = input.bytes.count - start
      guard searched <= mostBytes else {
        input.advance(to: input.bytes.count, lines: 1)
        throw BadLine(line: line, problem: "the line is longer than \(mostBytes >> 20) MiB")
      }
      try input.fill()
    }
  }

  /// The position of the line's end; nil if it isn't read yet, or if there is no further line.
  private func end(from position: Int) -> Int? {
    let found = input.bytes.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, position < bytes.count,
        let end = memchr(base + position, 10, bytes.count - position)
      else { return nil }
      return UnsafeRawPointer(end) - base
    }
    return found ?? (input.isAtEnd && input.start < input.bytes.count ? input.bytes.count : nil)
  }

  /// Calls a closure with the bytes of the line, without its end.
  package func withBytes<T>(_ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T {
    try input.bytes.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  package func setMark() { input.setMark() }
  package func rewind() { input.rewind() }
}
