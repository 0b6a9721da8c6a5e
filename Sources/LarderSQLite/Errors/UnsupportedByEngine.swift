/// An error of a call that the engine behind a database has nothing for, such as a backup of SQLite's on a
/// server.
public struct UnsupportedByEngine: Error, Hashable, Sendable {
  /// The engine's name.
  public let engine: String
  /// What was called.
  public let feature: String

  package init(engine: String, feature: String) {
    self.engine = engine
    self.feature = feature
  }
}

extension UnsupportedByEngine: CustomStringConvertible {
  /// The engine and the feature.
  public var description: String { "\(engine) has no \(feature)" }
}
