import CFaultInjection
import Larder
import LarderChangeset
import ProofSupport

/// SQLite's own session extension, on connections of its own.
enum SessionLibrary {
  /// Whether the library has it.
  static var exists: Bool { sessions_exist() != 0 }

  struct Failure: Error {
    let code: Int32
  }

  static func inverted(_ changeset: Changeset) throws -> Changeset {
    Changeset(
      data: try taking { count, bytes in
        changeset.data.withUnsafeBytes {
          sessions_invert($0.baseAddress, Int32($0.count), count, bytes)
        }
      })
  }

  static func combined(_ first: Changeset, _ second: Changeset) throws -> Changeset {
    Changeset(
      data: try taking { count, bytes in
        first.data.withUnsafeBytes { first in
          second.data.withUnsafeBytes { second in
            sessions_combine(
              first.baseAddress, Int32(first.count), second.baseAddress, Int32(second.count), count,
              bytes)
          }
        }
      })
  }

  static func rebased(
    _ changeset: Changeset, onto first: Changeset.Decisions, _ second: Changeset.Decisions
  ) throws -> Changeset {
    Changeset(
      data: try taking { count, bytes in
        changeset.data.withUnsafeBytes { changeset in
          first.data.withUnsafeBytes { first in
            second.data.withUnsafeBytes { second in
              sessions_rebase(
                first.baseAddress, Int32(first.count), second.baseAddress, Int32(second.count),
                changeset.baseAddress, Int32(changeset.count), count, bytes)
            }
          }
        }
      })
  }

  /// The changes as lines, in the order of their text unless they are wanted as they come.
  static func lines(
    of changeset: Changeset, withIndirect: Bool = true, isSorted: Bool = true
  ) throws -> [String] {
    let text = changeset.data.withUnsafeBytes {
      sessions_text($0.baseAddress, Int32($0.count), withIndirect ? 1 : 0)
    }
    guard let text else { throw WrongAnswer(description: "SQLite can't read \(changeset.data)") }
    defer { sqlite3_free(text) }
    let lines = String(cString: text).split(separator: "\n").map(String.init)
    return isSorted ? lines.sorted() : lines
  }

  /// Takes over bytes that are SQLite's.
  static func taking(
    _ body: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32
  ) throws -> [UInt8] {
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    let code = body(&count, &bytes)
    defer { sqlite3_free(bytes) }
    guard code == 0 else { throw Failure(code: code) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
  }
}

/// A database in memory that only SQLite's own functions use.
final class SessionDatabase {
  private let handle: OpaquePointer

  init(_ bytes: [UInt8]) throws {
    let opened = bytes.withUnsafeBytes { sessions_open($0.baseAddress, Int64($0.count)) }
    guard let opened else { throw WrongAnswer(description: "SQLite can't open the copy") }
    handle = opened
  }

  deinit { sqlite3_close(handle) }

  /// What SQLite says of the last call.
  var message: String { String(cString: sqlite3_errmsg(handle)) }

  func attach(_ name: String, _ bytes: [UInt8]) throws {
    let code = bytes.withUnsafeBytes {
      sessions_attach(handle, name, $0.baseAddress, Int64($0.count))
    }
    try WrongAnswer.check(code, 0, "the code of attaching")
  }

  /// The first column of the rows of a query, as one text.
  func text(_ sql: String) throws -> String {
    guard let text = sessions_rows(handle, sql) else {
      throw WrongAnswer(description: "SQLite can't run \(sql)")
    }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }

  /// The code that applying a changeset returns, and what was decided.
  func apply(
    _ changeset: Changeset, _ decisions: ConflictDecisions
  ) -> (code: Int32, decisions: Changeset.Decisions) {
    var code: Int32 = 0
    let bytes = try? SessionLibrary.taking { count, bytes in
      code = changeset.data.withUnsafeBytes {
        sessions_apply(
          handle, $0.baseAddress, Int32($0.count),
          { context, kind, conflict in
            guard let context, let conflict else { return 2 }
            let decisions = Unmanaged<ConflictDecisions>.fromOpaque(context).takeUnretainedValue()
            return decisions.decide(kind, String(cString: conflict))
          }, Unmanaged.passUnretained(decisions).toOpaque(), count, bytes)
      }
      return 0
    }
    return (code, Changeset.Decisions(data: bytes ?? []))
  }

  /// What makes a table of an attached database like that of the main one.
  func difference(from name: String, of table: String) throws -> Changeset {
    Changeset(
      data: try SessionLibrary.taking { count, bytes in
        sessions_difference(handle, name, table, count, bytes)
      })
  }
}

/// Decides about conflicts at random, in the same way each time, and notes them.
final class ConflictDecisions {
  private let choices: [Int32]
  private(set) var log: [String] = []
  private(set) var kinds: [Int32: Int] = [:]

  /// - Parameter choices: 0 for `.omit`, 1 for `.replace`, 2 for `.abort`, again and again; 3 for what replaces
  ///   where nothing can be replaced.
  init(_ choices: [Int32]) { self.choices = choices }

  /// SQLite's kinds of conflicts are numbered from 1: data, not found, conflict, constraint, foreign key.
  func decide(_ kind: Int32, _ conflict: String) -> Int32 {
    let choice = choices[log.count % choices.count]
    log.append(conflict)
    kinds[kind, default: 0] += 1
    // Without that SQLite forgets what refers to nothing, and commits.
    if kind == 5 { return 2 }
    if choice == 3 { return 1 }
    return choice == 1 && kind != 1 && kind != 3 ? 0 : choice
  }

  func decide(_ conflict: Changeset.Conflict) throws -> Changeset.Resolution {
    let kinds: [Changeset.Conflict.Kind] = [.data, .notFound, .conflict, .constraint, .foreignKey]
    let kind = Int32(kinds.firstIndex(of: conflict.kind) ?? 0) + 1
    var text = "\(kind) "
    if let row = conflict.row { text += row.line }
    if let found = conflict.found { text += " found" + found.map { " \($0.word)" }.joined() }
    guard let resolution = Changeset.Resolution(rawValue: decide(kind, text)) else {
      throw WrongAnswer(description: "there is no such decision")
    }
    return resolution
  }
}

extension Changeset.Row {
  /// The line that SQLite's reading of the change gives, without whether it is indirect.
  var line: String {
    let code =
      switch kind {
      case .insert: 18
      case .update: 23
      case .delete: 9
      }
    func words(_ values: [DatabaseValue?]) -> String {
      values.map { " " + ($0?.word ?? "-") }.joined()
    }
    return "\(table) \(code) old\(words(old)) new\(words(new))"
  }
}

extension DatabaseValue {
  fileprivate var word: String {
    switch self {
    case .null: "n"
    case .integer(let number): "i\(number)"
    case .real(let number): "r" + String(number.bitPattern, radix: 16)
    case .text(let text): "t" + Self.hexadecimal(Array(text.utf8))
    case .blob(let bytes): "b" + Self.hexadecimal(bytes)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
