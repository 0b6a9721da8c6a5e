import Glibc

/// The messages on two file descriptors. Each is its size as an 8-byte little-endian number, followed by
/// JSON.
package struct MessageStream {
  package typealias Failure = JSONReader.Failure

  private let input: Int32
  private let output: Int32
  /// The greatest size of a message in bytes; the compiler's messages hold a declaration and its
  /// surroundings.
  private static let greatestSize: UInt64 = 64 << 20

  package init(input: Int32, output: Int32) {
    self.input = input
    self.output = output
  }

  /// Answers messages until the compiler sends no more.
  package func run() throws {
    var messages = PluginMessages()
    while let message = try next() {
      try send(messages.answer(JSONReader.value(message)))
    }
  }

  /// The next message; nil at the end, which the compiler also signals by an empty message.
  private func next() throws -> [UInt8]? {
    let header = try read(8)
    if header.isEmpty { return nil }
    guard header.count == 8 else {
      throw Failure(description: "the size of a message is truncated")
    }
    let size = header.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    if size == 0 { return nil }
    guard size <= Self.greatestSize else {
      throw Failure(description: "a message of \(size) bytes is too large")
    }
    let message = try read(Int(size))
    guard message.count == Int(size) else { throw Failure(description: "a message is truncated") }
    return message
  }

  /// Reads `count` bytes, or as many as there are. Memory is allocated for bytes received, not for the
  /// announced size.
  private func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let wanted = min(count - bytes.count, 1 << 16)
      let part = try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
        filled = try Self.retried { Glibc.read(input, buffer.baseAddress, wanted) }
      }
      if part.isEmpty { break }
      // Most messages arrive in one part.
      if bytes.isEmpty { bytes = part } else { bytes += part }
    }
    return bytes
  }

  private func send(_ message: JSONValue) throws {
    let text = Array(message.text.utf8)
    let size = UInt64(text.count)
    let bytes = withUnsafeBytes(of: size.littleEndian) { Array($0) } + text
    var sent = 0
    while sent < bytes.count {
      sent += try bytes[sent...].withUnsafeBytes { rest in
        try Self.retried { write(output, rest.baseAddress, rest.count) }
      }
    }
  }

  private static func retried(_ call: () -> Int) throws -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      guard errno == EINTR else { throw Failure(description: String(cString: strerror(errno))) }
    }
  }
}
