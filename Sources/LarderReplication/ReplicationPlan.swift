/// How a log is shipped.
package struct ReplicationPlan: Sendable {
  /// How often a segment is cut.
  var interval: Duration
  /// How many bytes of pages an object holds at most.
  var objectSize = 8 << 20
  /// The size of a chain, in bytes, from which on it may be longer than the database.
  var smallestChain = 16 << 20
  /// How long what can be restored is kept.
  var keeping = Duration.seconds(30 * 86_400)
  var onFailure: (@Sendable (any Error) -> Void)?

  package init(interval: Duration) { self.interval = interval }

  /// Makes many small objects, for proofs.
  package static func small(interval: Duration, objectSize: Int, smallestChain: Int) -> Self {
    var plan = Self(interval: interval)
    plan.objectSize = objectSize
    plan.smallestChain = smallestChain
    return plan
  }
}
