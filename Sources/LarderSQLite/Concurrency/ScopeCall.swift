/// The place in the program's source that calls a scope: its label, and the line.
@usableFromInline
package struct ScopeCall: Hashable, Sendable {
  /// The address of the label, which lives as long as the program; 0 for a label that has none.
  @usableFromInline let label: UInt
  @usableFromInline let line: UInt
  /// Whether its task is on a thread that may wait; see ``ObserverThread``.
  @usableFromInline var isOnOwnThread = false

  @inlinable
  package init(_ label: StaticString, _ line: UInt = #line) {
    self.label = label.hasPointerRepresentation ? UInt(bitPattern: label.utf8Start) : 0
    self.line = line
  }

  init(label: UInt, line: UInt) {
    self.label = label
    self.line = line
  }
}

extension ScopeCall {
  /// The label; nil for a scope that has none.
  var name: String? { UnsafePointer<CChar>(bitPattern: label).map { String(cString: $0) } }
}

extension ScopeCall: CustomStringConvertible {
  @usableFromInline package var description: String {
    guard let label = UnsafePointer<CChar>(bitPattern: label) else { return "line \(line)" }
    return "“\(String(cString: label))” (line \(line))"
  }
}
