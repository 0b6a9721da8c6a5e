/// Holds a read mark in a write-ahead log, so that the log doesn't begin anew before its frames were read.
///
/// A checkpoint moves frames up to the smallest mark only. So checkpoints of the queue or pool ask the holder
/// to move its mark to the end: once before, and once afterwards, when everything may have been moved. A mark
/// that is taken then lets the log begin anew (it is mark 0; see ``LogRestartGuard``).
package protocol LogHolder: AnyObject, Sendable {
  /// Moves the mark to the end of the log if that takes no waiting. Otherwise the mark stays, and the
  /// checkpoint moves less. Called on any thread, possibly with the writer lock held.
  func moveMark()
}

/// The holder of a log, which the connections of a queue or pool share; nil for none.
package typealias LogHolding = Lock<(any LogHolder)?>
