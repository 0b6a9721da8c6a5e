/// A part of a record's declaration that uses deprecated properties, such as a column. The code that
/// `@Record` writes makes it in a deprecated member, and reads it here, where the compiler doesn't warn.
@_documentation(visibility: internal)
public protocol DeprecatedPart {
  /// The type of the part.
  associatedtype Part
  /// The part, which is deprecated in each type.
  static var part: Part { get }
}

extension DeprecatedPart {
  /// The part.
  @_documentation(visibility: internal)
  @inlinable public static var used: Part { part }
}
