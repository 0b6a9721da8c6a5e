import LarderSQLite

extension PostgresPool {
  /// The notifications that are sent to a channel of the database, by whomever, as they arrive: by
  /// `db.notify(_:_:)`, or [NOTIFY](https://www.postgresql.org/docs/current/sql-notify.html). Those of one
  /// transaction arrive after its commit, transactions in the order of their commits.
  ///
  /// ```swift
  /// for try await notification in pool.notifications(on: "orders") {
  ///   switch notification {
  ///   case .gap: try await lookForOrders()
  ///   case .payload(let number): try await handleOrder(number)
  ///   }
  /// }
  /// ```
  ///
  /// Listening begins when the first element is asked for. The pool has one connection more for all that
  /// listens, to the server on which transactions run. After a lost connection, or a failover, it connects
  /// again, for as long as it takes, and delivers ``ServerNotification/gap``.
  ///
  /// The sequence ends when its task is cancelled or the pool is closed. It throws `DatabaseError` if the
  /// first connection isn't made within ``PostgresConfiguration/retryLimit``, or for another reason than an
  /// outage; `ResultCode.misuse` if the pool is closed, or the name has not 1 to 63 bytes; and
  /// `UnsupportedByEngine` behind a pooler that doesn't keep a connection for each client.
  ///
  /// - Parameters:
  ///   - channel: the channel's name, as it is: capital letters count.
  ///   - limit: how many notifications are held for a consumer that is behind. Beyond that they are dropped,
  ///     and ``ServerNotification/gap`` takes their place.
  public func notifications(
    on channel: String, limit: Int = 1_000
  ) -> some AsyncSequence<ServerNotification, any Error> & Sendable {
    NotificationSequence(listener: listener, channel: channel, limit: max(1, limit))
  }
}
