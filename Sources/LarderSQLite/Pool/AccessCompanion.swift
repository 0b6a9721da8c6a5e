/// A companion of a queue or pool: works beside its scopes with a connection of its own, and ends with it.
package protocol AccessCompanion: AnyObject, Sendable {
  /// Closes its connection, so that the writing connection is the last one and moves the log into the file.
  func pause()
  /// Goes on after ``pause()``, for instance if the queue or pool couldn't be closed.
  func resume()
  /// What it does just now and since when, by the ``MonotonicClock``; nil while it waits for something to do.
  var currentWork: (label: String, since: Duration)? { get }
  /// Ends without waiting for anything, since the queue or pool is gone.
  func abandon()
}
