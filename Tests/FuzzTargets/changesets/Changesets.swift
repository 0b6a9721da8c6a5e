import Foundation
import Larder
import LarderChangeset

// Bytes given as a changeset and as decisions about conflicts: each call ends, with an error or without one, and what is
// made of a changeset is one.

nonisolated(unsafe) let db = expectSuccess("opening") {
  let db = try Database()
  try db.executeStatements(
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE, y CHECK (y IS NOT 3));
    INSERT INTO t VALUES (1, 'one', 0), (2, 'two', 0), (3, 'three', 0);
    CREATE TABLE u (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;
    INSERT INTO u VALUES ('k', x'00'), (1, 2);
    CREATE TABLE v (a TEXT COLLATE NOCASE PRIMARY KEY, t REFERENCES t ON DELETE CASCADE, z REAL);
    INSERT INTO v VALUES ('a', 1, 1.0), ('b', 3, 2.5);
    CREATE TRIGGER no BEFORE DELETE ON t WHEN old.id = 2 BEGIN SELECT RAISE(ABORT, 'no'); END;
    CREATE TRIGGER skip BEFORE UPDATE ON t WHEN new.y = 5 BEGIN SELECT RAISE(IGNORE); END;
    ANALYZE;
    """)
  return db
}

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = FuzzInput(data, count)
  let choices = input.byte()
  let first: [UInt8]
  let second: [UInt8]
  // Two of them, or one that is both.
  if choices & 0x80 != 0 {
    first = input.bytes()
    second = input.remainder()
  } else {
    first = input.remainder()
    second = first
  }
  use(Changeset(data: first), Changeset(data: second), choices)
  return 0
}

func use(_ changeset: Changeset, _ other: Changeset, _ choices: UInt8) {
  let isOne = attempt { try changeset.forEach { _ in } } != nil
  if let inverse = attempt({ try changeset.inverted() }) {
    expectReadable(inverse)
    if !isOne { _ = attempt { try changeset.renamed([:]) } }
  }
  if let combined = attempt({ try changeset.combined(with: other) }) { expectReadable(combined) }
  if let kept = attempt({ try changeset.filter { $0.kind != .delete } }) {
    expectReadable(kept)
  }
  if let renamed = attempt({ try changeset.renamed(["t": "u", "u": "t"]) }) {
    expectReadable(renamed)
    apply(renamed, choices)
  }
  if let rebased = attempt({ try changeset.rebased(onto: .init(data: other.data)) }) {
    expectReadable(rebased)
    apply(rebased, choices)
  }
  if let decisions = apply(changeset, choices),
    let rebased = attempt({ try other.rebased(onto: decisions) })
  {
    expectReadable(rebased)
  }
}

/// What throws only errors of the library's.
func attempt<T>(_ body: () throws -> T) -> T? {
  do {
    return try body()
  } catch is DatabaseError {
    return nil
  } catch is ConversionError {
    return nil
  } catch {
    found("\(error)")
  }
}

/// What was made of a changeset is one.
func expectReadable(_ changeset: Changeset) {
  do {
    try changeset.forEach { _ in }
  } catch is ConversionError {
  } catch {
    found("\(changeset.data): \(error)")
  }
}

@discardableResult
func apply(_ changeset: Changeset, _ choices: UInt8) -> Changeset.Decisions? {
  var decisions: Changeset.Decisions?
  var conflicts = 0
  _ = attempt {
    try db.inSavepoint { db in
      decisions = try changeset.apply(to: db) { conflict in
        conflicts += 1
        if choices & 1 != 0, conflict.found != nil { return .replace }
        return choices & 2 != 0 && conflicts > 3 ? .abort : .omit
      }
      db.setRollbackOnly()
    }
  }
  let count = expectSuccess("counting") { try db.value("SELECT count(*) FROM t", as: Int.self) }
  if count != 3 { found("\(changeset.data) has left \(count ?? -1) rows") }
  return decisions
}
