import Glibc

/// The bytes of a text that is written often. Writing a String would change reference counts twice.
///
/// `@unchecked Sendable` is sound because the memory is never written again, and is freed with the object.
package final class TextBytes: @unchecked Sendable {
  package let bytes: LentBytes
  /// The number of the declared table that has this name; 0 for other text.
  package let tableNumber: Int

  package init(_ text: String, tableNumber: Int = 0) {
    self.tableNumber = tableNumber
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = bytes.initialize(from: text.utf8)
    self.bytes = UnsafeBufferPointer(bytes)
  }

  deinit { bytes.deallocate() }
}

/// Assembles the text of a statement in temporary memory.
///
/// Pointer safety: nothing is written beyond `end`, and the memory outlives the writer, which is only passed
/// to closures.
package struct TextWriter {
  private var next: UnsafeMutablePointer<UInt8>
  private let end: UnsafeMutablePointer<UInt8>
  /// How many bytes too many were written.
  private var missing = 0
  private(set) var valueCount = 0
  /// Whether the same text is likely to be used again.
  private(set) var isCacheable = true
  /// A hash of the numbers of the declared tables so far; 0 for none.
  private(set) var tables = 0

  private init(_ memory: UnsafeMutableBufferPointer<UInt8>, _ start: UnsafeMutablePointer<UInt8>) {
    next = start
    end = start + memory.count
  }

  package mutating func append(word: StaticString) {
    word.withUTF8Buffer { append($0) }
  }

  package mutating func append(_ bytes: LentBytes) {
    guard let source = bytes.baseAddress else { return }
    guard bytes.count <= end - next else {
      missing += bytes.count
      return
    }
    memcpy(next, source, bytes.count)
    next += bytes.count
  }

  package mutating func append(_ text: String) { text.withBytes { append($0) } }

  package mutating func append(sql: SQL) {
    append(sql.text)
    valueCount += sql.values.count
    isCacheable = isCacheable && sql.isCacheable
  }

  /// Records the number of a declared table whose name is written.
  @inline(__always)
  package mutating func note(table number: Int) { tables = (tables &* 31 &+ number) & 0xffff_ffff }

  package mutating func appendPlaceholder() {
    countValue()
    append(word: "?")
  }

  /// Counts a placeholder that is appended as text.
  @inline(__always)
  package mutating func countValue() { valueCount &+= 1 }

  package mutating func appendUnlikely() { isCacheable = false }

  /// Calls a closure with the bytes that another one writes. They are valid during the call only. The writing
  /// closure is called again if it writes more than the memory holds.
  @inline(__always)
  static func withBytes<T>(
    _ write: (inout TextWriter) -> Void,
    _ body: (LentBytes, TextWriter) throws -> T
  ) rethrows -> T {
    // A temporary allocation of this size is still on the stack.
    var capacity = 1024
    while true {
      let result: T? = try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) {
        memory in
        guard let start = memory.baseAddress else { return nil }
        var writer = TextWriter(memory, start)
        write(&writer)
        guard writer.missing == 0 else {
          capacity += writer.missing
          return nil
        }
        return try body(UnsafeBufferPointer(start: start, count: writer.next - start), writer)
      }
      if let result { return result }
    }
  }

  /// SQL without values, with the text that a closure writes.
  package static func sql(_ write: (inout TextWriter) -> Void) -> SQL {
    withBytes(write) { bytes, writer in
      var sql = SQL(raw: String(decoding: bytes, as: UTF8.self))
      sql.isCacheable = writer.isCacheable
      return sql
    }
  }
}
