import CFaultInjection
import Foundation
import Larder

extension Stage {
  /// Two commit while the log is being synced for a third: they are told once it has been synced for
  /// them, too, which nobody else comes for.
  func commitDuringSync() {
    // Where the log often begins anew, SQLite itself would sync in the writer's turn.
    guard schedule.isDurable, configuration.groupCommit, schedule.failingSync == 0,
      schedule.checkpointFrames == 1000
    else { return }
    let group = DispatchGroup()
    // The first commit after a checkpoint syncs the log's header.
    commit(asTask: false, group)
    group.wait()
    let before = committedScraps()
    durability_hold_syncs(1)
    let seed = schedule.seed
    commit(asTask: seed & 1 == 0, group)
    waitBriefly { durability_held_syncs() > 0 }
    commit(asTask: seed & 2 == 0, group)
    commit(asTask: seed & 4 == 0, group)
    waitBriefly { committedScraps() == before.map { $0 + 3 } }
    durability_hold_syncs(0)
    if group.wait(timeout: .now() + 20) != .success {
      report("somebody who commits during a sync is never told")
    }
  }

  private func commit(asTask: Bool, _ group: DispatchGroup) {
    let body: @Sendable (Database) throws -> Int = { db in
      try db.executeUpdate("INSERT INTO scrap VALUES (1)")
      return durability_written()
    }
    group.enter()
    if asTask {
      Task.detached { [self] in
        do {
          told(.success(try await access.inTransaction { try body($0) }), group)
        } catch {
          told(.failure(error), group)
        }
      }
    } else {
      Thread.detachNewThread { [self] in
        told(Result { try access.inTransaction { try body($0) } }, group)
      }
    }
  }

  private func told(_ outcome: Result<Int, any Error>, _ group: DispatchGroup) {
    switch outcome {
    // Its frames are written after those that there were at its end.
    case .success(let written):
      if durability_synced() <= written { report("is told before the sync that it needs") }
    case .failure(let error): report("throws \(error), having committed during a sync")
    }
    group.leave()
  }

  private func waitBriefly(_ condition: () -> Bool) {
    let deadline = ContinuousClock.now + .milliseconds(200)
    while !condition(), ContinuousClock.now < deadline { usleep(20) }
  }
}
