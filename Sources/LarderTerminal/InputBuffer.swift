/// The part of a file that is looked at, and how far it was read.
struct InputBuffer {
  private let file: InputFile
  private(set) var bytes: [UInt8] = []
  /// Where the next record begins.
  private(set) var start = 0
  /// The number of the line that the next record begins on, from 1.
  private(set) var nextLine = 1
  /// Whether nothing follows the bytes.
  private(set) var isAtEnd = false
  private var bytesRead = 0
  /// Where reading goes on once more, and on which line.
  private var mark: (start: Int, line: Int)?

  /// Opens a file, `-` for the standard input, and skips the mark of UTF-8.
  init(path: String) throws {
    file = try InputFile(path: path)
    // A pipe may bring the mark byte by byte.
    while bytes.count < 3, !isAtEnd { isAtEnd = try !file.read(appendingTo: &bytes) }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
  }

  /// Which part of the file belongs to records that were read, from 0 to 1; 0 where its size isn't known.
  var partRead: Double { file.size > 0 ? Double(bytesRead) / Double(file.size) : 0 }

  /// Goes on behind a record.
  mutating func advance(to end: Int, lines: Int) {
    bytesRead += end - start
    start = end
    nextLine += lines
  }

  /// Reads more of the file: of a record that is long more and more at a time, since it may be looked through from
  /// its beginning.
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

  /// Keeps what is read from here on, for ``rewind()``.
  mutating func setMark() { mark = (start, nextLine) }

  /// Goes back to the mark, and forgets it.
  mutating func rewind() {
    guard let mark else { return }
    bytesRead -= start - mark.start
    start = mark.start
    nextLine = mark.line
    self.mark = nil
  }
}

/// What reads a file record by record.
package protocol RecordReader: AnyObject {
  /// The number of the line that the record begins on, from 1.
  var line: Int { get }
  /// Which part of the file belongs to records that were read, from 0 to 1; 0 where its size isn't known.
  var partRead: Double { get }
  /// Goes to the next record. Returns false at the end of the file; throws ``BadLine`` for a record that
  /// is malformed, after which the next call goes on behind it.
  func next() throws -> Bool
  /// Keeps what is read from here on, for ``rewind()``.
  func setMark()
  /// Goes back to the mark, and forgets it.
  func rewind()
}
