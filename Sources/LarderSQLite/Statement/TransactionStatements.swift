/// A connection's prepared statements that begin and end scopes' transactions. They always stay,
/// because a limit, or a lack of memory, could later keep a scope from ending.
final class TransactionStatements {
  @exclusivity(unchecked) private var statements = [PreparedStatement?](
    repeating: nil, count: TransactionControl.allCases.count)
  {
    didSet { references = statements.map { $0.map(Unmanaged.passUnretained) } }
  }
  /// The statements, not retained. That is sound: `statements` keeps them, and changes only while none
  /// of them runs. Counting references to each that runs would take a tenth of an empty transaction.
  @exclusivity(unchecked) private var references: [Unmanaged<PreparedStatement>?] = []
  /// Whether the statements that end scopes are compiled.
  @exclusivity(unchecked) var canEndScopes = false

  /// The statement, if it is compiled. Replacing it finalizes the old one.
  subscript(control: TransactionControl) -> PreparedStatement? {
    get { statements[control.rawValue] }
    set {
      statements[control.rawValue]?.finalize()
      statements[control.rawValue] = newValue
    }
  }

  @inline(__always)
  func reference(to control: TransactionControl) -> Unmanaged<PreparedStatement>? {
    references.isEmpty ? nil : references[control.rawValue]
  }

  /// Finalizes all, before the connection is closed.
  func removeAll() {
    for control in TransactionControl.allCases { self[control] = nil }
    canEndScopes = false
  }
}
