import LarderBackup
import Foundation
import Larder
import TestSupport

/// One that works on the file: imports, or single rows, with checkpoints beside them.
final class ResetWorker: @unchecked Sendable {
  private let path: String
  private let access: ResetWork.Shape.Access
  private let ledger: ResetLedger
  private var random: SeededGenerator
  private let configuration: Configuration

  /// An import's rows, of three pages each: about 15 MB.
  private static let imported = 1250

  init(
    path: String, _ access: ResetWork.Shape.Access, _ ledger: ResetLedger, random: SeededGenerator,
    isShort: Bool
  ) {
    (self.path, self.access, self.ledger, self.random) = (path, access, ledger, random)
    let isDurable = access == .durableQueue || access == .durablePool
    var configuration = Configuration(profile: isDurable ? .durable : .service)
    configuration.busyTimeout = .seconds(60)
    configuration.scopeTimeout = .seconds(60)
    if isShort, Bool.random(using: &self.random) { configuration.journalSizeLimit = 8 << 20 }
    self.configuration = configuration
  }

  /// - Parameters:
  ///   - imports: whether it makes the import; else single rows until that is done.
  ///   - isOver: asked in place of that.
  func work(imports: Bool, until isOver: (@Sendable () -> Bool)? = nil) {
    let isOver = isOver ?? { [ledger] in ledger.isOver }
    do {
      if access == .database {
        try workAlone(imports, isOver)
      } else {
        try workShared(imports, isOver)
      }
    } catch {
      ledger.fail(error)
    }
    if imports { ledger.hasImported() }
  }

  /// With a connection of its own, and its automatic checkpoints.
  private func workAlone(_ imports: Bool, _ isOver: () -> Bool) throws {
    repeat {
      let db = try Database(path: path, configuration: configuration)
      try alternate(imports, isOver) { rows in
        try db.inTransaction { try self.insert(rows, $0) }
      } checkpoint: { mode in
        try Self.ignoringBusy { _ = try db.checkpoint(mode) }
      }
      try db.close()
    } while !imports && !isOver()
  }

  private func workShared(_ imports: Bool, _ isOver: @escaping () -> Bool) throws {
    while true {
      let access = try open()
      let backup = try copies(of: access)
      try alternate(imports, isOver) { rows in
        try access.inTransaction { try self.insert(rows, $0) }
      } checkpoint: { mode in
        try Self.ignoringBusy {
          _ = try access.checkpoint(mode)
        }
      }
      backup?.cancel()
      // One that closes while another one commits.
      try access.close()
      if imports || isOver() { return }
    }
  }

  private func open() throws -> any DatabaseAccess {
    access == .pool || access == .durablePool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
  }

  private func copies(of access: any DatabaseAccess) throws -> ContinuousBackup? {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return nil }
    return try access.backup(
      every: .milliseconds(100), to: path + "-copies-\(getpid())-\(self.access.rawValue)",
      keeping: 1)
  }

  /// Single rows, an import in their middle, and a checkpoint now and then.
  private func alternate(
    _ imports: Bool, _ isOver: () -> Bool, transaction: (Int) throws -> Void,
    checkpoint: (CheckpointMode) throws -> Void
  ) throws {
    let modes: [CheckpointMode] = [.passive, .full, .restart, .truncate]
    func insert(_ rows: Int) throws {
      try transaction(rows)
      ledger.add(rows)
    }
    func single(_ count: Int) throws {
      for _ in 0..<count {
        try insert(1)
        if Int.random(in: 0..<40, using: &random) == 0 {
          try checkpoint(modes.randomElement(using: &random) ?? .passive)
        }
      }
    }
    if imports {
      try single(20)
      try insert(Self.imported)
      try single(200)
    } else {
      repeat { try single(10) } while !isOver() && Int.random(in: 0..<20, using: &random) > 0
    }
  }

  private func insert(_ rows: Int, _ db: Database) throws {
    for _ in 0..<rows {
      try db.executeUpdate(
        "INSERT INTO payment (note, body) VALUES (?, zeroblob(?))",
        String(random.next(), radix: 36), rows > 1 ? 12_000 : 20)
    }
  }

  private static func ignoringBusy(_ body: () throws -> Void) throws {
    do { try body() } catch let error as DatabaseError where error.isBusy {}
  }
}
