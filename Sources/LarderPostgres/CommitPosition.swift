/// A place in a server's write-ahead log, behind a commit: what has the log up to there has the commit.
///
/// It goes to other processes, and to clients, as text: `16/B374D848`. Places are comparable within one cluster, also
/// after a failover.
///
/// See [pg_lsn](https://www.postgresql.org/docs/current/datatype-pg-lsn.html).
public struct CommitPosition: Hashable, Comparable, Sendable, LosslessStringConvertible, Codable {
  /// Bytes from the beginning of the log.
  let bytes: Int64

  init(_ bytes: Int64) { self.bytes = max(0, bytes) }

  /// Nil for a text that is no position.
  public init?(_ description: String) {
    let parts = description.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let high = Self.number(parts[0]), let low = Self.number(parts[1]),
      high <= Int32.max
    else { return nil }
    bytes = high << 32 | low
  }

  private static func number(_ text: Substring) -> Int64? {
    guard (1...8).contains(text.utf8.count), text.allSatisfy(\.isHexDigit) else { return nil }
    return Int64(text, radix: 16)
  }

  /// As the server writes it.
  public var description: String {
    let digits = String(bytes, radix: 16, uppercase: true)
    let high = digits.dropLast(8)
    let low = digits.suffix(8).drop { $0 == "0" }
    return (high.isEmpty ? "0" : high) + "/" + (low.isEmpty ? "0" : low)
  }

  /// Whether one comes before another in the log.
  public static func < (left: CommitPosition, right: CommitPosition) -> Bool {
    left.bytes < right.bytes
  }

  /// Throws `DecodingError` for a text that is no position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let position = CommitPosition(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not a position in a log, such as 16/B374D848")
    }
    self = position
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
