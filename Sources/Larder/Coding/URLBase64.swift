import FoundationEssentials

/// Base 64 with the alphabet for URLs and without padding; see
/// [RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-5).
enum URLBase64 {
  static func text(of bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// The decoded bytes; nil for any other text, also for one that encodes the same bytes differently.
  static func bytes(of text: String) -> [UInt8]? {
    // The first byte that isn't base 64 ends decoding: Foundation reads millions of them for seconds.
    guard text.utf8.allSatisfy(isDigit) else { return nil }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let bytes = Data(base64Encoded: standard).map({ [UInt8]($0) }) else { return nil }
    return self.text(of: bytes) == text ? bytes : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
