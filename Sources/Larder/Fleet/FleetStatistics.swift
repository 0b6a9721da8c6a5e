/// What a ``DatabaseFleet`` has open, and what it has done since it was made.
public struct FleetStatistics: Hashable, Sendable {
  /// How many databases are open, are being opened, or are being closed.
  public internal(set) var open = 0
  /// How many of them somebody uses.
  public internal(set) var inUse = 0
  /// How many callers wait for a database that isn't open yet, or to remove one.
  public internal(set) var waiting = 0
  /// How often a database was opened.
  public internal(set) var opened = 0
  /// How often one was closed to make room for another.
  public internal(set) var evicted = 0
  /// How often one was closed as nobody had used it for ``FleetConfiguration/idleTime``.
  public internal(set) var expired = 0
  /// How many descriptors the open databases have: an estimate by ``open``, of three each with a write-ahead
  /// log, else two.
  public internal(set) var descriptors = 0
}
