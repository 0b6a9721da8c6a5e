import Foundation
import Larder
import LarderBackup
import ProofSupport
import TestSupport

/// Several databases of one name that have copies made into one folder, by processes that are killed, beside points
/// from a time to come, on a disk that gets full: each point is whole, is a committed state, and is removed by its own
/// database only.
enum BackupCompany: ProofRow {
  static let name = "backup-company"
  static let number = 23
  static let unit = "kills"

  private static let kept = 3

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 2 {
      try copy(path: options.rest[0], folder: options.rest[1])
      exit(0)
    }
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    let count = options.count ?? 60
    var checked = 0
    while result.tried < count, options.goesOn(after: result.tried) {
      let scratch = try ScratchFolder(inMemory: true)
      let disk = SmallDisk(folder: scratch.file("disk"))
      defer { disk.unmount() }
      let isDisk = disk.isMounted && Bool.random(using: &random)
      do {
        let company = try CopiedDatabases(scratch, isDisk ? disk : nil, random: &random)
        for _ in 0..<6 where result.tried < count {
          try company.round(&random)
          result.tried += 1
        }
        checked += company.checked
      } catch {
        result.failures.append("seed \(options.seed), after \(result.tried) kills: \(error)")
        result.tried += 1
      }
    }
    result.details = ["\(checked) points read"]
    return result
  }

  /// Pays, and has copies made all the time, until it is killed.
  private static func copy(path: String, folder: String) throws {
    let pool = try DatabasePool(path: path)
    try pool.inTransaction { try Payments.createTables($0) }
    let last = try pool.read { try $0.value("SELECT max(id) FROM payment", as: Int?.self) }
    let payments = Payments(from: ((last ?? nil) ?? 0) + 1)
    Parent.tell("ready")
    Thread.detachNewThread {
      while true {
        try? pool.inTransaction { try Payments.insert($0, payments.take()) }
        usleep(200)
      }
    }
    let backup = try pool.backup(every: .milliseconds(1), to: folder, keeping: kept)
    // A full disk is told, and tried again.
    while true { if let point = try? backup.backup() { Parent.tell(point.path) } }
  }

  /// The databases of a trial, which all have one name.
  private final class CopiedDatabases {
    private let paths: [String]
    private let folder: String
    private let disk: SmallDisk?
    private(set) var checked = 0

    init(
      _ scratch: ScratchFolder, _ disk: SmallDisk?, random: inout SeededGenerator
    ) throws {
      let name = ["app.db", "data.Z", "app"].randomElement(using: &random) ?? "app.db"
      paths = try ["x", "y"].map { home in
        try FileManager.default.createDirectory(
          atPath: scratch.file(home), withIntermediateDirectories: true)
        return scratch.file(home + "/" + name)
      }
      self.disk = disk
      folder = disk?.folder ?? scratch.file("copies")
    }

    /// Has one of them copied, or both, until they are killed; then looks at what is there.
    func round(_ random: inout SeededGenerator) throws {
      let working =
        Bool.random(using: &random) ? paths : [paths.randomElement(using: &random) ?? ""]
      let before = try points()
      if Bool.random(using: &random) { try? disk?.takeSpace() }
      if let point = before.randomElement(using: &random),
        Int.random(in: 0..<3, using: &random) == 0
      {
        try postdate(point)
      }
      let idle = try owners().filter { !working.contains($0.key) }
      let kept = try points().filter { idle.values.contains($0.owner ?? "") }
      let children = try working.map {
        try ChildProcess.again(BackupCompany.name, "--", $0, folder)
      }
      for child in children where child.line() != "ready" {
        throw WrongAnswer(description: "a process doesn't begin")
      }
      usleep(UInt32.random(in: 2000...60_000, using: &random))
      for child in children { child.kill() }
      try? disk?.freeSpace()
      try? disk?.freeSpace()
      let after = try points()
      guard Set(kept).isSubset(of: Set(after)) else {
        throw WrongAnswer(description: "points of another database were removed")
      }
      for (path, owner) in try owners() {
        let own = after.filter { $0.owner == owner }
        guard own.count <= BackupCompany.kept + 1 || !working.contains(path) else {
          throw WrongAnswer(description: "\(own.count) points are kept")
        }
      }
      for point in after { try check(point) }
    }

    private func points() throws -> [ContinuousBackup.Point] {
      guard FileManager.default.fileExists(atPath: folder) else { return [] }
      return try ContinuousBackup.points(in: folder)
    }

    /// The identities of those databases that have one.
    private func owners() throws -> [String: String] {
      var owners: [String: String] = [:]
      for path in paths where FileManager.default.fileExists(atPath: path) {
        let db = try Database(path: path)
        guard try db.tableExists("larder_identity") else { continue }
        owners[path] = try db.value("SELECT id FROM larder_identity", as: String.self)
        try db.close()
      }
      return owners
    }

    /// Gives a point the name that it would have had if the clock had been hours ahead.
    private func postdate(_ point: ContinuousBackup.Point) throws {
      let name = URL(fileURLWithPath: point.path).lastPathComponent
      guard let range = name.range(of: "-2026") ?? name.range(of: "-2027") else { return }
      let later = folder + "/" + name.replacingCharacters(in: range, with: "-2031")
      // Another point may have that time already.
      guard !FileManager.default.fileExists(atPath: later) else { return }
      try FileManager.default.moveItem(atPath: point.path, toPath: later)
    }

    /// A point is whole, and holds both rows of each payment or none.
    private func check(_ point: ContinuousBackup.Point) throws {
      try point.verify(.full)
      var configuration = Configuration()
      configuration.readOnly = true
      configuration.journalMode = nil
      let db = try Database(path: point.path, configuration: configuration)
      let half = try Payments.halfCount(db)
      try WrongAnswer.check(half, 0, "the payments of which half is there, in \(point.path)")
      try db.close()
      checked += 1
    }
  }
}
