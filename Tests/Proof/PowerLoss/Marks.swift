import CFaultInjection

/// What a story has been told up to some moment: numbers of transactions.
struct Marks {
  enum Kind: Int64 {
    /// The transaction was acknowledged.
    case acknowledged
    /// A checkpoint has made it certain.
    case certain
    /// A backup that holds it was finished.
    case inBackup
  }

  private(set) var acknowledged = 0
  private(set) var certain = 0
  private(set) var inBackup = 0

  private static let kinds: Int64 = 3

  /// Puts a mark into the recording.
  static func set(_ kind: Kind, _ id: Int) { fault_record_mark(Int64(id) * kinds + kind.rawValue) }

  /// Takes a mark out of the recording.
  mutating func take(_ mark: Int64) {
    let id = Int(mark / Self.kinds)
    switch Kind(rawValue: mark % Self.kinds) {
    case .acknowledged: acknowledged = id
    case .certain: certain = id
    case .inBackup: inBackup = id
    case nil: break
    }
  }
}
