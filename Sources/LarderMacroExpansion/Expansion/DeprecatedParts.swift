/// The parts of a record's code that use deprecated properties. Each is a member of a type that is deprecated
/// itself, so that the compiler doesn't warn of the property, and is used by way of a protocol, so that it
/// doesn't warn of the part either.
struct DeprecatedParts {
  /// The declarations, to be written in the structure of the columns.
  private(set) var lines: [String] = []
  private var count = 0
  private let isNeeded: Bool

  init(_ record: RecordDeclaration) {
    // In a deprecated type there are no such warnings.
    isNeeded = !record.type.prefix.isDeprecated
  }

  func isDeprecated(_ property: PropertyDeclaration) -> Bool {
    isNeeded && property.prefix.isDeprecated
  }

  /// Adds a part with this value, and returns how it is used.
  mutating func add(_ value: String, type: String? = nil) -> String {
    count += 1
    let name = "Deprecated\(count)"
    let declaration = type.map { "var part: \($0) { \(value) }" } ?? "let part = \(value)"
    lines += [
      "  fileprivate enum \(name): LarderMacros::DeprecatedPart {",
      "    @available(*, deprecated) static \(declaration)", "  }",
    ]
    return name + ".used"
  }
}
