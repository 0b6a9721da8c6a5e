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
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let bytes = Data(base64Encoded: standard).map({ [UInt8]($0) }) else { return nil }
    return self.text(of: bytes) == text ? bytes : nil
  }
}
