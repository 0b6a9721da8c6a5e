import Larder

/// Has a task cancelled when its commit has been made, and nobody has been told.
enum CancelsAtCommit {
  @TaskLocal static var isOn = false

  /// Looks at a statement that has run, on the thread that runs the scope.
  static func look(at event: TraceEvent) {
    guard isOn, event.sql == "COMMIT" || event.sql.hasPrefix("RELEASE") else { return }
    withUnsafeCurrentTask { $0?.cancel() }
  }
}
