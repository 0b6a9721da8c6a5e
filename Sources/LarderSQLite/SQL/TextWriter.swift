import Glibc

/// The bytes of a text that is written again and again: to write a String counts two references.
///
/// What makes its pointer sound: the memory is given back with the object, and never written after.
package final class TextBytes: @unchecked Sendable {
  fileprivate let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Copies the text.
  package init(_ text: String) {
    bytes = .allocate(capacity: text.utf8.count)
    _ = bytes.initialize(from: text.utf8)
  }

  deinit { bytes.deallocate() }

  /// The number of bytes.
  package var count: Int { bytes.count }
}

/// Puts text together in memory whose size was computed before.
///
/// What makes its pointers sound: nothing is written behind `end`, and the memory outlives the
/// writer, which is handed out to closures only.
package struct TextWriter {
  private var next: UnsafeMutablePointer<UInt8>
  private let end: UnsafeMutablePointer<UInt8>

  fileprivate init(
    _ memory: UnsafeMutableBufferPointer<UInt8>, _ start: UnsafeMutablePointer<UInt8>
  ) {
    next = start
    end = start + memory.count
  }

  fileprivate func length(since start: UnsafeMutablePointer<UInt8>) -> Int { next - start }

  /// Appends a text.
  package mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { append($0) }
  }

  /// Appends a text.
  package mutating func append(_ text: TextBytes) { append(UnsafeBufferPointer(text.bytes)) }

  @inline(__always)
  private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress, bytes.count <= end - next else { return }
    memcpy(next, source, bytes.count)
    next += bytes.count
  }

  /// What a closure writes.
  package static func text(byteCount: Int, _ write: (inout TextWriter) -> Void) -> String {
    String(unsafeUninitializedCapacity: byteCount) { memory in
      written(memory, write)
    }
  }

  /// Calls a closure with the bytes that another one writes, which aren't kept.
  @inline(__always)
  static func withBytes<T>(
    byteCount: Int, _ write: (inout TextWriter) -> Void,
    _ body: (UnsafeBufferPointer<UInt8>) throws -> T
  ) rethrows -> T {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { memory in
      let count = written(memory, write)
      return try body(UnsafeBufferPointer(rebasing: memory[..<count]))
    }
  }

  @inline(__always)
  private static func written(
    _ memory: UnsafeMutableBufferPointer<UInt8>, _ write: (inout TextWriter) -> Void
  ) -> Int {
    guard let start = memory.baseAddress else { return 0 }
    var writer = TextWriter(memory, start)
    write(&writer)
    return writer.length(since: start)
  }
}
