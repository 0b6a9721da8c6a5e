import CLibPQ
import FoundationEssentials
import LarderSQLite

/// An error of the server or of the connection to it: the fields of an error response as data.
///
/// See [Error and Notice Message Fields](https://www.postgresql.org/docs/current/protocol-error-fields.html).
struct PostgresFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The five characters of
  /// [the error's code](https://www.postgresql.org/docs/current/errcodes-appendix.html), whether the server
  /// or the client has found the error.
  var sqlState: String
  /// The primary message, without values: data that a message quotes is replaced by `…`.
  var message: String
  /// The server's detail of the message. It holds values, so it is never shown.
  var detail: String?
  var hint: String?
  var table: String?
  var column: String?
  var constraint: String?
  /// The error's offset in the statement, in bytes of UTF-8.
  var offset: Int?
  /// The index, from 0, of the row of a COPY that failed.
  var row: Int?
  /// The failed statement, if it isn't the caller's: the BEGIN that was sent before it.
  var sql: String?
  /// Whether a plan was out of date. Only the name of the server's function tells that from other errors of
  /// the same code.
  var isStalePlan = false
  /// The token of a transaction whose outcome is unknown.
  var commitToken: UUID?
  /// Whether the caller has stopped the statement, by a deadline or an interruption.
  var isStopped = false
  /// Whether the connection is gone, so that the statement's outcome is unknown.
  var isConnectionLost = false

  init(_ sqlState: String, _ message: String, isConnectionLost: Bool = false) {
    self.sqlState = sqlState
    self.message = message
    self.isConnectionLost = isConnectionLost
  }

  /// Reads the failure from a libpq result: of a statement with this text, with or without values, or of a
  /// COPY into a table.
  init(
    _ result: OpaquePointer, sql: String?, hasValues: Bool = false,
    copyingInto relation: String? = nil
  ) {
    func field(_ code: Int) -> String? {
      PQresultErrorField(result, Int32(code)).map { String(cString: $0) }
    }
    sqlState = field(LARDER_PG_SQLSTATE) ?? SQLState.connectionFailure
    message =
      field(LARDER_PG_MESSAGE)
      ?? Self.line(PQresultErrorMessage(result).map { String(cString: $0) } ?? "")
    // The error for an unknown name has a position in the statement, unless the name is a value:
    // `$1::regclass`.
    let mayBeValue = (hasValues || relation != nil) && field(LARDER_PG_POSITION) == nil
    let kinds = mayBeValue ? ["22", "3D", "3F", "42"] : ["22"]
    // The error for a sequence that has come to its end quotes only the sequence's name.
    if kinds.contains(String(sqlState.prefix(2))), sqlState != "2200H" {
      message = Self.withoutQuoted(message)
    }
    isStalePlan = field(LARDER_PG_SOURCE_FUNCTION) == "RevalidateCachedQuery"
    detail = field(LARDER_PG_DETAIL)
    hint = field(LARDER_PG_HINT)
    table = field(LARDER_PG_TABLE)
    column = field(LARDER_PG_COLUMN)
    constraint = field(LARDER_PG_CONSTRAINT)
    if let sql, let position = field(LARDER_PG_POSITION).flatMap({ Int($0) }) {
      offset = Self.byteOffset(ofCharacter: position, in: sql)
    }
    if let relation, let context = field(LARDER_PG_CONTEXT) {
      row = Self.row(inContext: context, of: relation)
      // The columns of a constraint aren't those of a value.
      if !sqlState.hasPrefix("23") {
        column = column ?? Self.column(inContext: context, of: relation)
      }
    }
    // The server closes the connection after errors of these severities.
    isConnectionLost = ["FATAL", "PANIC"].contains(field(LARDER_PG_SEVERITY) ?? "FATAL")
  }

  /// The code and the message, without values.
  var description: String { "PostgreSQL error \(sqlState): \(message)" }

  /// The byte offset of a server's position, which counts code points from 1.
  static func byteOffset(ofCharacter position: Int, in sql: String) -> Int? {
    let scalars = sql.unicodeScalars
    guard position > 0,
      let index = scalars.index(
        scalars.startIndex, offsetBy: position - 1, limitedBy: scalars.endIndex)
    else { return nil }
    return sql.utf8.distance(from: sql.startIndex, to: index)
  }

  /// The row's index from 0, found in `COPY city, line 3, column name`, whose words are in the server's
  /// language.
  static func row(inContext context: String, of relation: String) -> Int? {
    let start = "COPY \(relation), ".utf8
    guard context.utf8.starts(with: start) else { return nil }
    let rest = Substring(context.utf8.dropFirst(start.count))
    return rest.firstMatch(of: /[0-9]+/).flatMap { Int($0.output) }.map { $0 - 1 }
  }

  /// The column's name, found in `COPY city, line 3, column name: "…"`.
  static func column(inContext context: String, of relation: String) -> String? {
    let start = "COPY \(relation), "
    guard context.hasPrefix(start) else { return nil }
    let rest = context.dropFirst(start.count).prefix { !$0.isNewline }
    return rest.firstMatch(of: /[0-9]+, [^ ,]+ (.+?)(?:: |$)/).map { String($0.1) }
  }

  /// Replaces the data that a message quotes. Quotes within the data aren't doubled, so that everything
  /// between the first and the last quote goes.
  private static func withoutQuoted(_ message: String) -> String {
    guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""),
      first < last
    else { return message }
    return message[...first] + "…" + message[last...]
  }

  /// The columns of a key that exists already. Only the detail tells them: `Key (a, "b c")=(1, 2) …`, with
  /// the words in the server's language, and names quoted as in SQL.
  var keyColumns: [String] {
    guard sqlState == "23505", let names = detail?.firstMatch(of: /\((.*?)\)=\(/)?.1 else {
      return []
    }
    return names.matches(of: /"((?:[^"]|"")*)"|[^, ]+/).map { name in
      name.1.map { String($0).replacing("\"\"", with: "\"") } ?? String(name.0)
    }
  }

  /// The lines of a message as one line.
  static func line(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).joined(separator: "; ")
  }
}

extension PostgresFailure {
  var resultCode: ResultCode {
    if isStopped { return .interrupt }
    return isStalePlan ? SQLState.stalePlan : SQLState.resultCode(of: sqlState)
  }
  var constraintKind: ConstraintViolation.Kind? {
    // The server's default name of a primary key.
    if let table, constraint == "\(table)_pkey", sqlState == "23505" { return .primaryKey }
    return ConstraintViolation.Kind(resultCode)
  }

  /// Advice on an error, if the server gives none.
  var advice: String? {
    switch sqlState {
    case "28P01", "28000":
      "the user and password come from the address, the environment or ~/.pgpass"
    case "3D000": "create it with CREATE DATABASE"
    case "53300": "fewer PostgresConfiguration.connections, or more max_connections, may help"
    case "57P03": "the server is starting or stopping, and may be available soon"
    case SQLState.readOnly: "only a transaction can write, on a server that isn't a standby"
    case SQLState.failedTransaction:
      "an earlier statement of the transaction failed; run statements that may fail in inSavepoint"
    case SQLState.unknownOutcome:
      commitToken == nil
        ? "check whether the transaction was committed before you run it again"
        : "once connected again, PostgresPool.outcome(of:) tells whether the transaction was committed"
    case "42P01" where message.contains("larder_commit"):
      "PostgresConfiguration.commitTokens needs a table that Migrator.migrate creates"
    default: nil
    }
  }
}

extension DatabaseError {
  /// The error for a failure of the server, or of the connection to it.
  init(_ failure: PostgresFailure, sql: String? = nil) {
    var message = failure.message
    if let hint = failure.hint { message += " (\(hint))" }
    if let advice = failure.advice { message += ": \(advice)" }
    let constraint = failure.constraintKind.map {
      ConstraintViolation(
        kind: $0, table: failure.table,
        columns: failure.column.map { [$0] } ?? failure.keyColumns,
        name: failure.constraint)
    }
    self.init(
      failure.resultCode, message, sql: sql, offset: sql == nil ? nil : failure.offset,
      constraint: constraint, engine: "PostgreSQL", sqlState: failure.sqlState)
    commitToken = failure.commitToken
  }

  /// Calls a closure, and converts its `PostgresFailure`.
  static func converting<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let failure as PostgresFailure {
      throw DatabaseError(failure)
    }
  }
}

extension SQLState {
  static let notSupported = "0A000"
  static let wrongState = "55000"
  static let canceled = "57014"
  static let unknownStatement = "26000"
  static let duplicateStatement = "42P05"
  static let readOnly = "25006"
  static let failedTransaction = "25P02"
  static let outOfMemory = "53200"

  /// Whether a transaction collided with others: a conflict of isolation, or a deadlock.
  static func isConflict(_ sqlState: String) -> Bool {
    sqlState == "40001" || sqlState == "40P01"
  }

  /// The result code that SQLite would report for a server's error.
  static func resultCode(of sqlState: String) -> ResultCode {
    switch sqlState {
    case "23505": .constraintUnique
    case "23503", "23001": .constraintForeignKey
    case "23502": .constraintNotNull
    case "23514": .constraintCheck
    case "40001", "40P01", "55P03": .busy
    case canceled: .interrupt
    case readOnly: .readOnly
    case failedTransaction: .abort
    case "25P03", "57P01", "57P02", "57P05": .ioError
    case "53100": .full
    case outOfMemory: .noMemory
    case "53300", "57P03", "57P04", "3D000", cannotConnect, "08004": .cannotOpen
    case "42501": .authorization
    case wrongState: .misuse
    case "XX001", "XX002": .corrupt
    default:
      switch sqlState.prefix(2) {
      case "08", "58": .ioError
      case "23": .constraint
      case "28": .authorization
      case "54": .tooBig
      default: .error
      }
    }
  }
}
