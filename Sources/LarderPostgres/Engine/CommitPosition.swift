import LarderSQLite

/// A position in a server's write-ahead log, after a commit. A server that has the log up to there has the
/// commit.
///
/// Its text is for other processes and clients: `1/16/B374D848` is the timeline, of which each failover
/// begins a new one, and the position on it as
/// [pg_lsn](https://www.postgresql.org/docs/current/datatype-pg-lsn.html). Positions are comparable within
/// one cluster.
public struct CommitPosition: Hashable, Comparable, Sendable, LosslessStringConvertible, Codable {
  /// The timeline. A failover begins another one, on which the log goes on from where the new primary was. It
  /// doesn't contain what other servers had behind that position.
  let timeline: Int64
  /// The bytes from the log's beginning.
  let bytes: Int64

  /// - Parameter timeline: the timeline; 0 for any.
  init(timeline: Int64 = 0, bytes: Int64 = 0) {
    self.timeline = timeline
    self.bytes = bytes
  }

  /// The position of a text; nil for a text that is no position.
  public init?(_ description: String) {
    let parts = description.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let timeline = Self.number(parts[0]), let high = Self.number(parts[1]),
      let low = Self.number(parts[2]), high <= Int32.max
    else { return nil }
    self.init(timeline: timeline, bytes: high << 32 | low)
  }

  private static func number(_ text: Substring) -> Int64? {
    guard (1...8).contains(text.utf8.count), text.allSatisfy(\.isHexDigit) else { return nil }
    return Int64(text, radix: 16)
  }

  /// The position as text, such as `1/16/B374D848`.
  public var description: String {
    [timeline, bytes >> 32, bytes & 0xFFFF_FFFF]
      .map { String($0, radix: 16, uppercase: true) }.joined(separator: "/")
  }

  /// Whether one position comes before another in the log.
  public static func < (left: CommitPosition, right: CommitPosition) -> Bool {
    (left.timeline, left.bytes) < (right.timeline, right.bytes)
  }

  /// Decodes the text. Throws `DecodingError` for a text that is no position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let position = CommitPosition(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not a position in a log, such as 1/16/B374D848")
    }
    self = position
  }

  /// Encodes the text. Throws what the encoder throws.
  @_documentation(visibility: internal)
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
