/// The part of a file that is in memory, and the reading position in it.
struct InputBuffer {
  private let file: InputFile
  private(set) var bytes: [UInt8] = []
  /// The offset in `bytes` at which the next record begins.
  private(set) var start = 0
  /// The number of the line that the next record begins on, from 1.
  private(set) var nextLine = 1
  /// Whether the file ends with `bytes`.
  private(set) var isAtEnd = false
  private var bytesRead = 0
  /// The position to which ``rewind()`` returns, and its line.
  private var mark: (start: Int, line: Int)?

  /// Opens a file, `-` for the standard input, and skips a UTF-8 byte order mark.
  init(path: String) throws {
    file = try InputFile(path: path)
    // A pipe may deliver the mark byte by byte.
    while bytes.count < 3, !isAtEnd { isAtEnd = try !file.read(appendingTo: &bytes) }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
  }

  var partRead: Double { file.size > 0 ? Double(bytesRead) / Double(file.size) : 0 }

  /// Moves the position behind a record.
  mutating func advance(to end: Int, lines: Int) {
    bytesRead += end - start
    start = end
    nextLine += lines
  }

  /// Reads more of the file. The buffer at least doubles each time: each read may scan a long record from its
  /// beginning, and that stays linear.
  mutating func fill() throws {
    let kept = mark?.start ?? start
    bytes.removeSubrange(..<kept)
    start -= kept
    if mark != nil { mark?.start = 0 }
    let wanted = bytes.count * 2
    repeat {
      isAtEnd = try !file.read(appendingTo: &bytes)
    } while !isAtEnd && bytes.count < wanted
  }

  mutating func setMark() { mark = (start, nextLine) }

  mutating func rewind() {
    guard let mark else { return }
    bytesRead -= start - mark.start
    start = mark.start
    nextLine = mark.line
    self.mark = nil
  }
}

/// A reader that goes through a file record by record.
package protocol RecordReader: AnyObject {
  /// The number of the line that the record begins on, from 1.
  var line: Int { get }
  /// The fraction of the file that was read as records, from 0 to 1; 0 if the file's size isn't known.
  var partRead: Double { get }
  /// Goes to the next record. Returns false at the end of the file. Throws ``BadLine`` for a malformed
  /// record; the next call then continues behind it.
  func next() throws -> Bool
  /// Marks the position for ``rewind()``; the bytes from here on are kept.
  func setMark()
  /// Returns to the mark, and removes it.
  func rewind()
}
