import Foundation
import Larder

extension Stage {
  /// Whoever is cancelled in the line leaves it, and is told, while another goes on having its turn.
  func cancelInLine() {
    let isTold = DispatchSemaphore(value: 0)
    do {
      try access.inDatabase { [access] _ in
        let task = Task {
          do {
            try await access.inTransaction { _ in self.report("runs, cancelled in the line") }
            self.report("returns, cancelled in the line")
          } catch is CancellationError {
          } catch {
            self.report("throws \(error), cancelled in the line")
          }
          isTold.signal()
        }
        let deadline = ContinuousClock.now + .seconds(5)
        while access.statistics.waiting == 0, ContinuousClock.now < deadline { usleep(50) }
        task.cancel()
        if isTold.wait(timeout: .now() + 5) != .success {
          report("keeps its place, cancelled in the line")
        }
      }
    } catch {
      if Outcome(error) != .failed(.failedSync) { report("throws \(error) beside one cancelled") }
    }
  }
}
