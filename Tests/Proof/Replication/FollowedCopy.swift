import Foundation
import Larder
import LarderReplication
import ProofSupport
import TestSupport

/// A copy that follows the log while that is written: whatever it reads is the database after some transaction.
final class FollowedCopy {
  private let follower: DatabaseFollower
  private let digests: ReplicatedDigests
  private(set) var reads = 0

  init(_ path: String, _ folder: FolderSink, _ digests: ReplicatedDigests) throws {
    self.digests = digests
    follower = try DatabaseFollower(
      of: folder, name: "cities", to: path, every: .milliseconds(2))
  }

  /// Reads, now or once a number of transactions is there.
  func check(atLeast expected: Int = 0) throws {
    let deadline = Date(timeIntervalSinceNow: 20)
    while true {
      let (count, digest, damage) = try follower.read { db in
        (
          try ReplicatedModel.count(in: db), try ReplicatedModel.digest(of: db),
          try db.value("PRAGMA integrity_check", as: String.self) ?? ""
        )
      }
      reads += 1
      guard try digest == digests.digest(after: count), damage == "ok" else {
        throw WrongAnswer(
          description: "the copy isn't the database after \(count) transactions: \(damage)")
      }
      // The size of pages may have changed, which ends a copy.
      if let error = follower.error as? DatabaseError, error.code == .mismatch { return }
      if count >= expected { return }
      guard Date() < deadline else {
        throw WrongAnswer(
          description:
            "the copy has only \(count) of \(expected): \(String(describing: follower.error))")
      }
      usleep(2000)
    }
  }

  func close() throws { try follower.close() }
}
