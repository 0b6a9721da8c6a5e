// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of swift-log that the documentation uses, with its signatures.

public struct Logger: Sendable {
  public enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }
  public enum MetadataValue: Sendable { case string(String) }
  public typealias Metadata = [String: MetadataValue]
  public struct Message: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) {}
  }
  public init(label: String) {}
  public func log(
    level: Level, _ message: @autoclosure () -> Message,
    metadata: @autoclosure () -> Metadata? = nil, source: @autoclosure () -> String? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) {}
}
