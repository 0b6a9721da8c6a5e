import Larder

/// Counts of what a ``DatabaseFleet`` has open, and of what it has done since it was created.
public struct FleetStatistics: Hashable, Sendable {
  /// How many databases are open, are being opened, or are being closed.
  public internal(set) var count = 0
  /// How many of them are in use.
  package internal(set) var inUse = 0
  /// How many callers wait for a database that isn't open yet, or to remove one.
  public internal(set) var waiting = 0
  /// How often a database was opened.
  package internal(set) var opened = 0
  /// How often a database was closed to make room for another.
  public internal(set) var evicted = 0
  /// How often a database was closed after ``FleetConfiguration/idleTime`` without use.
  package internal(set) var expired = 0
  /// An estimate of the open databases' file descriptors: three for each of ``count`` with a write-ahead
  /// log, otherwise two.
  package internal(set) var descriptors = 0
  /// The bytes of pages of open databases that were changed and aren't shipped yet.
  public internal(set) var pendingBytes = 0
  /// How long the oldest of these pages has waited.
  public internal(set) var lag = Duration.zero
  /// How often shipping has failed. It is tried again.
  public internal(set) var failures = 0
}
