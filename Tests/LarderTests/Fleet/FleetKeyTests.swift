import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Keys and files of a fleet")
struct FleetKeyTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private static let odd = [
    "..", ".", "/", "../escape", "a/b", "\0", "a\0b", "A", "a", "%41", "%", "acme.db", ".hidden",
    "-wal", "a-wal", "Ä", "ä", "e\u{301}", "\u{e9}", "北京市", "👩‍👩‍👧", "\n", " ", "con", "'; DROP",
    "file:x?mode=memory", ":memory:", "*", "\\", String(repeating: "k", count: 240),
  ]

  @Test("Any text works as a key: it has its own file in the fleet's folder, and is listed")
  func oddKeys() throws {
    let fleet = try Tenants.fleet(in: folder)
    for (index, key) in Self.odd.enumerated() {
      #expect(try !fleet.exists(key))
      try fleet.inTransaction(key) { try Tenants.insert("city \(index)", $0) }
      #expect(try fleet.exists(key))
    }
    for (index, key) in Self.odd.enumerated() {
      #expect(try fleet.read(key, Tenants.names) == ["city \(index)"])
    }
    let keys = try fleet.keys()
    #expect(Set(keys.map { Array($0.utf8) }) == Set(Self.odd.map { Array($0.utf8) }))
    #expect(keys.count == Self.odd.count)
    try fleet.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("tenants"))
    #expect(names.count == Self.odd.count)
    // File names differ even on a file system that ignores case.
    #expect(Set(names.map { $0.lowercased() }).count == Self.odd.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tenants"])
  }

  @Test("A key's file name is readable, with other characters percent-encoded")
  func readableName() throws {
    let fleet = try Tenants.fleet(in: folder)
    #expect(try fleet.path(of: "Acme & sons") == fleet.folder + "/%41cme%20%26%20sons.db")
  }

  @Test("An empty key, and one too long for a file name, throw without creating a file")
  func noKeys() throws {
    let fleet = try Tenants.fleet(in: folder)
    let calls: [(String) throws -> Void] = [
      { try fleet.read($0) { _ in } }, { _ = try fleet.exists($0) }, { try fleet.create($0) },
      { try fleet.remove($0) }, { _ = try fleet.path(of: $0) },
    ]
    for call in calls {
      guard case .emptyKey? = failure(FleetError.self, { try call("") }) else {
        Issue.record("an empty key is taken")
        continue
      }
      for key in [String(repeating: "x", count: 245), String(repeating: "京", count: 28)] {
        guard case .keyTooLong(key, 244)? = failure(FleetError.self, { try call(key) }) else {
          Issue.record("a key that is too long is taken")
          continue
        }
      }
    }
    #expect(try fleet.keys() == [])
    try fleet.create(String(repeating: "x", count: 244))
    #expect(try fleet.keys().count == 1)
  }

  @Test("`keys` ignores files in the folder that aren't named as the fleet names them")
  func otherFiles() throws {
    let fleet = try Tenants.fleet(in: folder)
    try fleet.create("oslo")
    for name in [
      "README", "Oslo.db", "%6f.db", "%4G.db", "%.db", ".db", "oslo.db.bak", "oslo.db-old",
      "%c3.db",
    ] {
      try Data().write(to: URL(fileURLWithPath: fleet.folder + "/" + name))
    }
    #expect(try fleet.keys() == ["oslo"])
  }

  @Test("A fleet uses the configured file extension", arguments: ["sqlite", "db3"])
  func fileExtension(name: String) throws {
    let fleet = try Tenants.fleet(in: folder) { $0.fileExtension = name }
    try fleet.create("oslo")
    #expect(try fleet.path(of: "oslo").hasSuffix("/oslo." + name))
    #expect(try fleet.keys() == ["oslo"])
  }

  @Test(
    "A fleet refuses an invalid file extension",
    arguments: ["", ".", "a/b", "DB", "a.b", "db-wal", "d\0"])
  func wrongExtension(name: String) {
    #expect(throws: FleetError.self) {
      try Tenants.fleet(in: folder) { $0.fileExtension = name }
    }
  }

  @Test("Opening a fleet throws if its folder can't be created")
  func noFolder() throws {
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    for path in ["", "a\0b", folder.file("file"), folder.file("file") + "/tenants"] {
      #expect(failure(DatabaseError.self) { try DatabaseFleet(in: path) }?.code == .cannotOpen)
    }
  }
}
