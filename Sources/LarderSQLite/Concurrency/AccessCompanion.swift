/// What works beside the scopes of a queue or pool, with a connection of its own, and ends with it.
protocol AccessCompanion: AnyObject, Sendable {
  /// Closes its connection, so that the one that writes is the last and moves the log into the file.
  func pause()
  /// Goes on: the queue or pool couldn't be closed.
  func resume()
  /// Ends, without waiting for anything: the queue or pool is gone.
  func abandon()
}
