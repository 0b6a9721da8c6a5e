import LarderSQLite

/// An engine that wakes the programs that wait for something, as soon as a transaction is committed that
/// brings it.
package protocol EngineSignals: EngineConnection {
  /// Sends a signal with the commit of the transaction, if anybody may wait for one. It costs a round trip.
  ///
  /// - Parameter text: tells what it is about; less than 8,000 bytes.
  func signal(_ channel: String, _ text: String) throws
  /// What wakes waiting programs; nil if this connection's pool has nothing to do so.
  var signalSource: (any EngineSignalSource)? { get }
}

/// Tells the programs that wait of signals.
package protocol EngineSignalSource: AnyObject, Sendable {
  /// Begins to receive the signals of a channel. Throws if that isn't possible.
  ///
  /// - Parameter ring: called with the text of each signal; with nil if others may have been missed.
  func receiveSignals(
    on channel: String, _ ring: @escaping @Sendable (String?) -> Void
  ) throws -> any EngineSignalReception
}

/// The signals of one channel, which end with it.
package protocol EngineSignalReception: AnyObject, Sendable {
  /// Has signals sent from now on, or lets others do without. Rings once it is so: what was committed before
  /// isn't signalled.
  func wait(_ isWaiting: Bool)
}

extension Database {
  /// Wakes the programs that wait for something, with the commit of the transaction. On SQLite, observation
  /// does that.
  package func signal(_ channel: String, _ text: String) throws {
    guard hasEngine, let engine = engine as? any EngineSignals else { return }
    try engine.signal(channel, text)
  }
}

extension DatabaseAccess {
  /// Begins to receive the signals of a channel; nil if the engine has none.
  package func signals(
    on channel: String, _ ring: @escaping @Sendable (String?) -> Void
  ) async throws -> (any EngineSignalReception)? {
    try await inDatabase { db in
      guard db.hasEngine, let engine = db.engine as? any EngineSignals else { return nil }
      return try engine.signalSource?.receiveSignals(on: channel, ring)
    }
  }
}
