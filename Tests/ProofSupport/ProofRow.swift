/// One of the proofs: what it is called, and how it is run.
package protocol ProofRow {
  /// What it is called on the command line and in results.
  static var name: String { get }
  /// Its number on the page of results, which rows of one kind share.
  static var number: Int { get }
  /// What one trial is, in the plural: "points of failure".
  static var unit: String { get }
  /// Runs until the count or the time of the options is reached, or all there is has been tried.
  static func run(_ options: ProofOptions) throws -> ProofResult
}

/// What a proof has found.
package struct ProofResult {
  /// How many trials there were.
  package var tried = 0
  /// What went wrong, each with what reproduces it: the seed, the point, the state.
  package var failures: [String] = []
  /// Why nothing, or not all, could be tried here.
  package var skipped: String?
  /// Further figures for the line, as "kept: 17".
  package var details: [String] = []

  package init(skipped: String? = nil) { self.skipped = skipped }
}
