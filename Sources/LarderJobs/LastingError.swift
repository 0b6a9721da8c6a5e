import Larder

extension Error {
  /// Whether a job's own value is the reason: trying again stores it as little. Other errors are the database's, and
  /// pass.
  var isOfValue: Bool {
    guard let error = self as? DatabaseError else { return true }
    return [.error, .constraint, .tooBig, .mismatch, .misuse].contains(error.code.primary)
  }
}
