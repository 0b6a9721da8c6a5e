import TestSupport
import Testing

@testable import LarderChangeset
@testable import LarderSQLite

@Suite("The binary format of changesets")
struct ChangesetBytesTests {
  /// An update that lacks the value of its key.
  private static let hostile: [UInt8] =
    [0x54, 2, 1, 0, 0x74, 0, 23, 0, 0, 0] + [1, 0, 0, 0, 0, 0, 0, 0, 1]
    + [1, 0, 0, 0, 0, 0, 0, 0, 2]

  /// A changeset of a table `city`, which has a key column and one other column, with these rows.
  private static func changeset(_ bytes: [UInt8], letter: Character = "T") -> [UInt8] {
    [letter.asciiValue ?? 0, 2, 1, 0] + Array("city".utf8) + [0] + bytes
  }

  private func expectCorrupt(_ bytes: [UInt8], _ db: Database) {
    let changeset = Changeset(data: bytes)
    let none = Changeset.Decisions(data: [])
    for call: () throws -> Void in [
      { try changeset.forEach { _ in } }, { _ = try changeset.inverted() },
      { _ = try changeset.combined(with: Changeset(data: [])) },
      { _ = try Changeset(data: []).combined(with: changeset) },
      { _ = try changeset.filter { _ in true } }, { _ = try changeset.renamed([:]) },
      { _ = try changeset.rebased(onto: none) }, { _ = try changeset.apply(to: db) },
    ] {
      let error = #expect(throws: DatabaseError.self, "\(bytes)", performing: call)
      #expect(error?.code == .corrupt || error?.code == .misuse, "\(bytes)")
    }
  }

  @Test("A 28-byte update without a key value makes every changeset call throw instead of crash")
  func hostileUpdate() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    #expect(Self.hostile.count == 28)
    expectCorrupt(Self.hostile, db)
    let error = #expect(throws: DatabaseError.self) {
      try Changeset(data: Self.hostile).apply(to: db) { _ in .omit }
    }
    #expect(error?.code == .corrupt)
  }

  @Test(
    "Malformed changeset bytes make every changeset call throw",
    arguments: [
      // No table; a table without columns, end of name or key; a table name that isn't UTF-8.
      [18, 0, 5], [0x54, 0, 0], [0x54, 1, 1, 0x74], [0x54, 1, 0, 0x74, 0],
      [0x54, 1, 1, 0xff, 0],
      // More columns than bytes, and malformed variable-length integers.
      [0x54, 0x82, 0x80, 0x80, 0x80, 0x01], [0x54, 0xff, 0xff, 0xff, 0xff, 0xff],
      [0x54, 0xff, 0xff, 0xff, 0xff, 0x7f],
      // A truncated row, an unknown type, an unknown operation.
      changeset([18, 0, 5, 0]), changeset([18, 0, 5, 6]), changeset([19, 0, 5, 5]),
      changeset([18]), changeset([18, 0]), changeset([18, 0, 5]),
      changeset([18, 0, 1, 0, 0, 0, 0, 0, 0, 0]), changeset([18, 0, 3, 9, 65]),
      changeset([18, 0, 4, 0xff, 0xff, 0xff, 0xff, 0x7f]),
      changeset([9, 0, 5, 0]), changeset([9, 0, 0, 5]), changeset([23, 0, 0, 0, 5, 5]),
      changeset([23, 0, 5, 5]), changeset([9, 0, 0], letter: "P"),
      changeset([23, 0, 0, 5], letter: "P"), changeset([18, 0, 5, 0], letter: "P"),
      // A patchset that follows a changeset.
      changeset(changeset([18, 0, 5, 5], letter: "P")),
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) throws { expectCorrupt(bytes, try makeCities()) }

  @Test("Rebasing onto malformed decisions, or onto those of a table with other columns, throws")
  func wrongDecisions() throws {
    let changeset = Changeset(data: Self.changeset([18, 0, 5, 5]))
    for bytes in [
      [1], Self.changeset([23, 0, 5, 5, 0, 0]), Self.changeset([18, 0, 0, 5]),
      Self.changeset([18, 0, 5, 5], letter: "P"),
    ] as [[UInt8]] {
      let error = #expect(throws: DatabaseError.self) {
        try changeset.rebased(onto: .init(data: bytes))
      }
      #expect(error?.code == .corrupt)
    }
    let other = Changeset.Decisions(data: [0x54, 1, 1] + Array("CITY".utf8) + [0, 18, 0, 5])
    let error = #expect(throws: DatabaseError.self) { try changeset.rebased(onto: other) }
    #expect(error?.code == .schema)
  }

  @Test("Decoding and encoding a changeset gives the same bytes, for each kind of value and change")
  func writtenAgain() throws {
    let long = [UInt8](repeating: 0x61, count: 20_000)
    let values: [RecordedValue] = [
      .null, .integer(.min), .integer(-1), .real(bits: (-0.0).bitPattern), .text([]),
      .text([0xff, 0]), .blob([]), .blob(long[...]),
    ]
    for isPatch in [false, true] {
      let table = RecordedTable(
        name: "Straße", keys: [0, 2, 1, 0, 0, 0, 0, 0], isPatch: isPatch)
      var keys = table.blank
      for index in table.primaryKey { keys[index] = values[index] }
      var update = values
      for index in table.primaryKey { update[index] = .undefined }
      update[0] = .undefined
      var old = isPatch ? table.blank : values
      old[0] = .undefined
      for index in table.primaryKey { old[index] = values[index] }
      var encoder = ChangesetEncoder()
      for isIndirect in [false, true] {
        encoder.append(
          RecordedChange(
            operation: .insert, isIndirect: isIndirect, old: table.blank, new: values),
          of: table)
        encoder.append(
          RecordedChange(
            operation: .delete, isIndirect: isIndirect, old: isPatch ? keys : values,
            new: table.blank), of: table)
        encoder.append(
          RecordedChange(operation: .update, isIndirect: isIndirect, old: old, new: update),
          of: table)
      }
      let changeset = encoder.changeset
      #expect(try changeset.renamed([:]) == changeset)
      if !isPatch { #expect(try changeset.inverted().inverted() == changeset) }
      // Text that isn't UTF-8 is kept in the bytes, but can't be read as a row.
      #expect(throws: ConversionError.self) { try changeset.forEach { _ in } }
    }
  }

  @Test("A NaN in a changeset is read as NULL, as SQLite does")
  func notANumber() throws {
    let bits: [UInt8] = [0x7f, 0xf8, 0, 0, 0, 0, 0, 0]
    var rows: [Changeset.Row] = []
    try Changeset(data: Self.changeset([18, 0, 5, 2] + bits)).forEach { rows.append($0) }
    #expect(rows.map(\.new) == [[.null, .null]])
  }

  @Test(
    "Changesets with randomly altered bytes neither crash, hang nor corrupt the database", .promptly
  )
  func randomBytes() throws {
    var generator = SeededGenerator(seed: 5)
    let db = try Database()
    try db.executeUpdate("CREATE TABLE city (id PRIMARY KEY, name)")
    let good = Self.changeset(
      [18, 0, 3, 1, 65, 4, 1, 1, 23, 0, 5, 5, 0, 2] + [0, 0, 0, 0, 0, 0, 0, 1])
    var (refused, accepted) = (0, 0)
    for _ in 0..<2000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: 0...24, using: &generator)
      }
      let changeset = Changeset(data: bytes)
      var decisions = Changeset.Decisions(data: bytes)
      let calls: [() throws -> Void] = [
        { decisions = try changeset.apply(to: db) { $0.found == nil ? .omit : .replace } },
        { _ = try changeset.inverted().apply(to: db) { _ in .omit } },
        { _ = try changeset.rebased(onto: decisions) },
        { try changeset.combined(with: changeset).forEach { _ in } },
      ]
      for call in calls {
        if ChangesetTests.isRefused(call) { refused += 1 } else { accepted += 1 }
      }
    }
    #expect(refused > 0 && accepted > 0, "\(refused), \(accepted)")
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
  }
}
