import Foundation
import Larder
import LarderJobs

extension MisuseCall {
  private struct Errand: Job {
    var text = "bread"
    func run(_ context: JobContext) async throws {}
  }

  /// The calls of jobs on a connection.
  static let jobs = [
    MisuseCall("Job.enqueue(_:_:)") { try Errand().enqueue($0.db) },
    MisuseCall("Sequence.enqueue(_:then:_:)") {
      try [Errand()].enqueue($0.db, then: Errand())
      let errands: [any Job] = [Errand()]
      try errands.enqueue($0.db)
    },
    MisuseCall("JobQueue.statistics(_:)") { _ = try JobQueue.statistics($0.db) },
    MisuseCall("JobQueue.retry(_:_:)") { try JobQueue.retry($0.db, StoredJob.all) },
    MisuseCall("JobQueue.remove(_:_:)") { try JobQueue.remove($0.db, StoredJob.all) },
  ]
}

/// A job that uses its context, for the calls that a program makes within a job.
struct MisusedJob: Job {
  func run(_ context: JobContext) async throws {
    try await context.store.read { _ in }
    try await context.complete { _ in }
  }
}
