/// Base 64 with the alphabet for URLs and without padding; see
/// [RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-5).
enum URLBase64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The number that each byte of a text stands for; 64 for those that stand for none.
  private static let numbers: [UInt8] = {
    var numbers = [UInt8](repeating: 64, count: 256)
    for (number, byte) in alphabet.enumerated() { numbers[Int(byte)] = UInt8(number) }
    return numbers
  }()

  static func text(of bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The decoded bytes; nil for any other text.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3 + 2)
    let numbers = numbers
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in text.utf8 {
      let number = numbers[Int(byte)]
      guard number < 64 else { return nil }
      bits = bits << 6 | UInt32(number)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    // The bits that are left have to be fewer than a character's, and zero.
    guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
    return bytes
  }
}
