import CSQLite
import Glibc

/// SQL in the form that SQLite reads fastest: with a NUL at the end, and none before. SQLite then
/// copies nothing, and the time for a batch doesn't grow with the square of its length.
struct SQLText {
  let bytes: [UInt8]

  /// Takes bytes that are SQL already, with a NUL at the end.
  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Takes a text. Throws if it contains NUL, or is too long for SQLite.
  init(_ sql: String) throws {
    bytes = sql.withBytes { sql in
      Array(unsafeUninitializedCapacity: sql.count + 1) { memory, count in
        count = memory.initialize(fromContentsOf: sql)
        memory.initializeElement(at: count, to: 0)
        count += 1
      }
    }
    let zero = bytes.withUnsafeBytes { $0.baseAddress.flatMap { memchr($0, 0, count) } }
    guard zero == nil else {
      throw DatabaseError(.misuse, "the SQL contains NUL, at which SQLite would stop reading")
    }
    guard bytes.count < Int32.max else {
      throw DatabaseError(.tooBig, "the SQL is longer than 2 GiB")
    }
  }

  var count: Int { bytes.count - 1 }

  /// The end of the statement that begins at a position, as far as it shows without compiling it:
  /// after a semicolon outside of quotes, comments and triggers. The search ends where errors cut the
  /// text off, since each semicolon takes another look at everything before it.
  func endOfStatement(from start: Int) -> Int {
    var end = start
    let count = min(count, start + DatabaseError.longestText + 1)
    while let semicolon = bytes[end..<count].firstIndex(of: UInt8(ascii: ";")) {
      end = semicolon + 1
      if sqlite3_complete(string(from: start, to: end)) == 1 { return end }
    }
    return count
  }

  /// What SQLite's compiler returns: its code, the statement, and where the statement's text ends.
  typealias Compiled = (code: Int32, handle: OpaquePointer?, end: Int)

  /// Compiles the first statement from a position on. Here SQLite gets
  /// callers' SQL: a statement with an effect while it is compiled must not come here before it runs.
  func compile(
    on database: OpaquePointer, from start: Int = 0, isPersistent: Bool = false
  ) -> Compiled {
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    return bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let first = bytes.baseAddress else { return (SQLITE_OK, nil, start) }
        var handle: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          database, first + start, Int32(truncatingIfNeeded: bytes.count - start), flags, &handle,
          &tail)
        return (code, handle, tail.map { $0 - first } ?? count)
      }
    }
  }

  /// Whether there is nothing but space, comments and semicolons from a position on. Anything else
  /// is a statement, if only a wrong one.
  func isEmpty(from start: Int) -> Bool {
    var scanner = SQLScanner(bytes, from: start, to: count)
    while let token = scanner.nextToken() {
      if !token.isSemicolon { return false }
    }
    return true
  }

  func string(from start: Int, to end: Int? = nil) -> String {
    String(decoding: bytes[start..<(end ?? count)], as: UTF8.self)
  }
}
