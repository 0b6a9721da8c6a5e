/// An error of a call to a feature that the database's engine doesn't have, such as SQLite's backup on a
/// server.
public struct UnsupportedByEngine: Error, Hashable, Sendable {
  /// The engine's name.
  public let engine: String
  /// The feature that was called.
  public let feature: String

  package init(engine: String, feature: String) {
    self.engine = engine
    self.feature = feature
  }
}

extension UnsupportedByEngine: CustomStringConvertible {
  /// The engine and the feature.
  public var description: String { "\(engine) doesn't support \(feature)" }
}
