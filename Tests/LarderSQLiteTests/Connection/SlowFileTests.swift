import Glibc
import LarderSQLite
import TestSupport
import Testing

@Suite("Files whose schema causes excessive work")
struct SlowFileTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  /// Creates a file on a connection whose functions are replaced by fast ones.
  private func makeFile(_ statements: SQL) throws {
    var configuration = Configuration()
    configuration.journalMode = .delete
    configuration.trustsSchema = true
    let db = try Database(path: path, configuration: configuration)
    for name in ["instr", "replace", "printf", "format", "trim", "length", "hex", "zeroblob"] {
      try db.createFunction(name, directOnly: false) { _ in 1 }
    }
    try db.executeStatements(statements)
    try db.close()
  }

  private static let expressions: [SQL] = [
    "instr(hex(zeroblob(name * 500000)), substr(hex(zeroblob(name * 250000)), 2) || '1')",
    "length(replace(hex(zeroblob(name * 500000)), substr(hex(zeroblob(name * 250000)), 2) || '1', 'x'))",
    "length(printf('%.*c', 2000000000 * name, 'x'))",
    "length(format('%.2000000000c', name))",
    "length(printf('%.*c', 2000000000.5 * name, 'x'))",
    "length(trim(hex(zeroblob(name * 250000)), hex(zeroblob(name * 50000)) || 'x'))",
    "length(zeroblob(name * 1000000000))",
    "length(hex(zeroblob(name * 400000000)))",
  ]

  @Test(
    "An untrusted file's slow generated columns end soon: too large ones and late ones with an error",
    arguments: Self.expressions)
  func generatedColumns(expression: SQL) throws {
    try makeFile(
      """
      CREATE TABLE city (name, slow AS (\(expression)) NOT NULL); INSERT INTO city VALUES (1)
      """)
    var configuration = Configuration(profile: .untrustedFile)
    configuration.statementDeadline = .milliseconds(200)
    let start = ContinuousClock.now
    do {
      let db = try Database(path: path, configuration: configuration)
      let values = try db.executeQuery("SELECT * FROM city").map { try $0[1] }
      // Only the first expression can be computed within the limits.
      #expect(expression.text == Self.expressions[0].text && values == [0])
    } catch let error as DatabaseError {
      // Before SQLite 3.38 there is no `format`.
      let isUnknown =
        SQLiteLibrary.versionNumber < 3_038_000 && error.message.contains("function: format")
      #expect([.tooBig, .interrupt].contains(error.code) || isUnknown, "\(error)")
    }
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test("`instr` finds a text of a megabyte within two seconds of processor time")
  func longNeedle() throws {
    let db = try Database()
    let text = String(repeating: "a", count: 2_000_000)
    let needle = String(repeating: "a", count: 1_000_000) + "b"
    let start = Self.processorTime
    #expect(try db.value("SELECT instr(?, ?)", text, needle, as: Int.self) == 0)
    #expect(try db.value("SELECT instr(?, ?)", text + "b", needle, as: Int.self) == 1_000_001)
    #expect(Self.processorTime - start < 2)
  }

  /// This thread's processor time in seconds, which doesn't include waiting for other threads.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test("Profile `.untrustedFile` has a statement deadline and a length limit")
  func deadline() throws {
    try makeFile("CREATE TABLE city (name)")
    let db = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    #expect(db.statementDeadline == .seconds(10))
    #expect(db.limit(.length) == 1 << 20)
    #expect(try Database(path: path).statementDeadline == nil)
  }

  @Test(
    "The functions that `.untrustedFile` replaces return the same results and errors as SQLite's own"
  )
  func guardedFunctions() throws {
    try makeFile("CREATE TABLE city (name)")
    let guarded = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    let plain = try Database()
    let calls: [SQL] = [
      "replace('Oslo', 'o', 'ø')", "replace('Oslo', '', 'x')", "replace('Oslo', 'slo', NULL)",
      "replace(123, 2, 'x')", "replace(NULL, 'a', 'b')", "trim('xxOsloxx', 'x')",
      "trim(12.5, '5')", "ltrim('äöOslo', 'öä')", "rtrim('Oslo ', ' ')", "trim('  Oslo ')",
      "trim('Oslo', NULL)", "trim(x'2020', ' ')", "json_patch('{\"a\":1}', '{\"b\":2}')",
      "json_array(json_patch('{}', '{\"b\":2}'))", "json_patch('[', '{}')",
      "printf('%d %s %05.1f%% %q', 7, 'Oslo', 2.25, 'it''s')", "printf('%c%c', 'Oslo', 'Bergen')",
      "format('%.3c|%*d|%-*d|', 'x', 7, 1, 4, 2)", "printf('%s')", "printf(NULL)", "printf()",
      "format('%,d %x %e', 1234567, 255, 1.5)", "typeof(printf('%d', NULL))",
      "printf('%.*c', 5, 'ä')", "printf('%.*c', -3, 'y')", "printf('100 %')", "printf('%')",
      "'Oslo' LIKE 'o%'", "'Oslo' LIKE 'x%'", "'O%' LIKE 'Ox%' ESCAPE 'x'", "NULL LIKE 'a'",
      "'Oslo' GLOB 'O*'", "x'4f' LIKE 'o'", "1 LIKE 1", "hex('Oslo')", "hex(NULL)", "hex(12)",
      "quote('it''s')", "quote(1.5)", "quote(NULL)", "quote(x'ff')", "lower('OSLOÅ')",
      "upper(NULL)", "upper('ø1')", "like('a', 'A')",
    ]
    for call in calls {
      func value(_ db: Database) -> Result<DatabaseValue?, DatabaseError> {
        Result { try db.value("SELECT \(call)", as: DatabaseValue.self) }
          .mapError { $0 as? DatabaseError ?? DatabaseError(code: .internal, message: "\($0)") }
      }
      switch (value(guarded), value(plain)) {
      case (.success(let one), .success(let other)): #expect(one == other, "\(call)")
      case (.failure(let one), .failure(let other)):
        #expect(one.message == other.message, "\(call)")
      case let (one, other): Issue.record("\(call): \(one), \(other)")
      }
    }
  }

  @Test("`instr` returns the same positions as SQLite's own function")
  func instr() throws {
    let db = try Database()
    let expected: [(SQL, DatabaseValue)] = [
      ("instr('Oslo', 's')", 2), ("instr('Oslo', 'x')", 0), ("instr('Oslo', '')", 1),
      ("instr('', 'a')", 0), ("instr('', '')", 1), ("instr(NULL, 'a')", .null),
      ("instr('a', NULL)", .null), ("instr('Tromsø by', 'by')", 8), ("instr(12345, 34)", 3),
      ("instr(1.5, '.')", 2), ("instr(x'00ff00', x'ff')", 2), ("instr(x'c3b8c3b8', x'c3b8')", 1),
      ("instr(x'61c3b862', 'b')", 3), ("instr('aøb', x'62')", 3), ("instr(x'61c3b862', x'62')", 4),
      ("instr(x'', x'')", 1), ("instr(x'', x'61')", 0), ("instr('aøb', CAST(x'b8' AS TEXT))", 0),
      ("instr(CAST(x'b861' AS TEXT), CAST(x'b8' AS TEXT))", 1),
      ("instr('a' || char(0) || 'b', 'b')", 3), ("instr('😀x', 'x')", 2),
    ]
    for (call, value) in expected {
      #expect(try db.value("SELECT \(call)", as: DatabaseValue.self) == value, "\(call)")
    }
  }

  @Test("`setMemoryLimit` returns the former limit and sets the new one")
  func memory() {
    let former = SQLiteLibrary.setMemoryLimit(8 << 30)
    #expect(SQLiteLibrary.setMemoryLimit(former) == 8 << 30)
  }
}
