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
    /// A reader, or one that wrote nothing, was told of it.
    case told
    /// Somebody was told that a row can't be written because of this one.
    case collided
  }

  private(set) var acknowledged = 0
  private(set) var certain = 0
  private(set) var inBackup = 0
  private(set) var told = 0
  private(set) var collided: Set<Int> = []

  private static let kinds: Int64 = 5

  /// Puts a mark into the recording.
  static func set(_ kind: Kind, _ id: Int) { fault_record_mark(Int64(id) * kinds + kind.rawValue) }

  /// What a mark says.
  static func kind(of mark: Int64) -> Kind? { Kind(rawValue: mark % kinds) }

  /// Takes a mark out of the recording.
  mutating func take(_ mark: Int64) {
    let id = Int(mark / Self.kinds)
    switch Self.kind(of: mark) {
    // Those who are told together may mark it in another order.
    case .acknowledged: acknowledged = max(acknowledged, id)
    case .certain: certain = id
    case .inBackup: inBackup = id
    case .told: told = max(told, id)
    case .collided: collided.insert(id)
    case nil: break
    }
  }
}
