import Larder
import LarderOutbox
import ProofSupport

extension MisuseCall {
  private static let outbox = MisusedOutbox.outbox

  /// The calls of outboxes on a connection.
  static let outboxes = [
    MisuseCall("Outbox.append(_:_:)") { try outbox.append($0.db, "bread") },
    MisuseCall("Outbox.append(_:contentsOf:)") { try outbox.append($0.db, contentsOf: ["bread"]) },
    MisuseCall("Outbox.consumers(_:)") { _ = try outbox.consumers($0.db) },
    MisuseCall("Outbox.removeConsumer(_:_:)") { try outbox.removeConsumer($0.db, "baker") },
  ]
}

/// An outbox, and the calls that a program makes with a queue or pool.
enum MisusedOutbox {
  static let outbox = Outbox<String>("errands")

  static func follow(_ access: any DatabaseAccess) throws {
    try Migrator(OutboxTables.migrations).migrate(access)
    try access.inTransaction { try outbox.append($0, "bread") }
    try Elsewhere.inTask {
      try await outbox.addConsumer(access, "baker", from: .beginning)
      let workers = [
        Task { try await outbox.follow(access, as: "baker") { _, _ in } },
        Task { try await outbox.deliver(access, as: "mail") { _ in } },
      ]
      for worker in workers { worker.cancel() }
      for worker in workers { try await worker.value }
      try await outbox.clean(access)
    }
  }
}
