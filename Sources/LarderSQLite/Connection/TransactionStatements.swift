/// A connection's prepared statements that begin and end transactions for scopes, which always stay:
/// afterwards a limit, or a lack of memory, could keep a scope from ending.
final class TransactionStatements {
  @exclusivity(unchecked) private var statements = [PreparedStatement?](
    repeating: nil, count: TransactionControl.allCases.count)
  {
    didSet { references = statements.map { $0.map(Unmanaged.passUnretained) } }
  }
  /// The same, not retained. What makes it sound: `statements` keeps them, and is changed only while
  /// none of them runs. To count the references of each that runs takes a tenth of an empty
  /// transaction.
  @exclusivity(unchecked) private var references: [Unmanaged<PreparedStatement>?] = []
  /// Whether those that end scopes are among them.
  @exclusivity(unchecked) var canEndScopes = false

  /// One of them, if it is compiled. One that is replaced is finalized.
  subscript(control: TransactionControl) -> PreparedStatement? {
    get { statements[control.rawValue] }
    set {
      statements[control.rawValue]?.finalize()
      statements[control.rawValue] = newValue
    }
  }

  /// The same, not retained.
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
