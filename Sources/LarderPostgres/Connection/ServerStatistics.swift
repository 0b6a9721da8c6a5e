import LarderSQLite

/// Figures of a pool's servers, beside those of its connections and calls in `statistics`.
///
/// ```swift
/// response.body =
///   pool.statistics.prometheusText(labels: ["database": "cities"])
///   + pool.serverStatistics.prometheusText(labels: ["database": "cities"])
/// ```
public struct ServerStatistics: Hashable, Sendable {
  /// The host and port, as given in the address, of the server that transactions run on: the one that the
  /// newest connection leads to. Nil before the first connection.
  public internal(set) var address: String?
  /// The most connections that the pool has at a time, with replicas to each server:
  /// ``PostgresConfiguration/connections``. Of these, `statistics.busyReaders` run scopes now, and
  /// `statistics.idleReaders` are open and idle.
  public internal(set) var maximumConnections = 0
  /// How often a connection was opened.
  public internal(set) var connects = 0
  /// How often a scope was given a connection, those of replicas not included. A scope that is retried is
  /// given one each time.
  public internal(set) var attempts = 0
  /// The round trips of these scopes, which are counted when a scope has ended. Those of connecting aren't
  /// included.
  public internal(set) var roundTrips = 0
  /// How long no connection could be opened: since the first attempt that has failed, or that has run for
  /// more than a second. Nil while all is well, and again once a server has answered.
  public internal(set) var outage: Duration?
  /// The error of the last attempt to connect in an outage; nil if there is none, or if it still runs.
  public internal(set) var error: DatabaseError?
  /// The same as `PostgresPool.replicaStatistics`.
  public internal(set) var replicas: [ReplicaStatistics] = []
}

/// The statistics of a pool's reads on one of its servers.
public struct ReplicaStatistics: Hashable, Sendable {
  /// The host and port, as given in the address.
  public let name: String
  /// How many reads the server has run.
  public let reads: Int
  /// How many reads had to go elsewhere because the server lagged, could not be reached, or is the primary.
  public let fallbacks: Int
  /// Whether the server gets no reads now. The primary is always left out.
  public let isLeftOut: Bool
  /// Why the server was left out the last time; nil if it never was.
  public let error: String?
  /// How long the server has got no reads because it lags or can't be reached; nil if it gets them, or is the
  /// primary.
  public let outage: Duration?
  /// How many bytes of the log the server lacked when it was last asked, up to the pool's newest commit
  /// before that.
  public let pendingBytes: Int
  /// How many connections to the server are in use.
  public let busyReaders: Int
  /// How many connections to the server are open and idle.
  public let idleReaders: Int
}

extension ServerStatistics {
  /// The statistics in [Prometheus's text format](https://prometheus.io/docs/instrumenting/exposition_formats/),
  /// to be appended to the text of `AccessStatistics.prometheusText`. Times are in seconds.
  ///
  /// - Parameter labels: names and values that each line gets. Characters that a name can't have become `_`.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    Self.prometheusText([(labels, self)])
  }

  /// The statistics of several pools in one text, with the labels of each, which have to differ.
  public static func prometheusText(
    _ pools: [(labels: [String: String], statistics: ServerStatistics)]
  ) -> String {
    var text = PrometheusText()
    for (labels, statistics) in pools {
      text.begin(labels)
      statistics.write(to: &text)
    }
    return text.text
  }

  private func write(to text: inout PrometheusText) {
    if let address {
      text.add("server_connected", .gauge, "1 for the transactions' server.", 1, server: address)
    }
    text.add("connections_limit", .gauge, "Most connections to a server.", maximumConnections)
    text.add("connects", .counter, "Connections opened.", connects)
    text.add("attempts", .counter, "Scopes given a connection, retries included.", attempts)
    text.add("round_trips", .counter, "Round trips of scopes.", roundTrips)
    text.add(
      "server_outage_seconds", .gauge, "Time that no connection could be opened; 0 if all is well.",
      outage ?? .zero)
    for replica in replicas {
      let server = replica.name
      text.add(
        "replica_reads", .counter, "Reads that the replica ran.", replica.reads, server: server)
      text.add(
        "replica_fallbacks", .counter, "Reads that had to go elsewhere.", replica.fallbacks,
        server: server)
      text.add(
        "replica_outage_seconds", .gauge,
        "Time that the replica has lagged or not answered; 0 if all is well.",
        replica.outage ?? .zero, server: server)
      text.add(
        "replica_pending_bytes", .gauge, "Bytes of the log that the replica lacked.",
        replica.pendingBytes, server: server)
      text.add(
        "replica_connections_busy", .gauge, "Connections to the replica in use.",
        replica.busyReaders, server: server)
      text.add(
        "replica_connections_idle", .gauge, "Connections to the replica that are idle.",
        replica.idleReaders, server: server)
    }
  }
}
