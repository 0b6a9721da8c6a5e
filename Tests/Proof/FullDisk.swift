/// A disk that is full.
enum FullDisk: ProofRow {
  static let name = "full-disk"
  static let number = 5
  static let unit = "fills"

  static func run(_ options: ProofOptions) throws -> ProofResult { ProofResult() }
}
