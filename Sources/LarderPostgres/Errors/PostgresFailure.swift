import CLibPQ
import FoundationEssentials
import LarderSQLite

/// Why the server, or the way to it, failed: the fields of an error response as data.
///
/// See [Error and Notice Message Fields](https://www.postgresql.org/docs/current/protocol-error-fields.html).
struct PostgresFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The five characters of [the error's code](https://www.postgresql.org/docs/current/errcodes-appendix.html),
  /// the server's or of what the client has found itself.
  var sqlState: String
  /// The primary message, without values: what messages on data quote of them is replaced by `…`.
  var message: String
  /// More than the message says. It holds values, so that it is shown to nobody.
  var detail: String?
  var hint: String?
  var table: String?
  var column: String?
  var constraint: String?
  /// Where in the statement an error is, in bytes of UTF-8.
  var offset: Int?
  /// Which row of a COPY failed, from 0.
  var row: Int?
  /// The statement, where it isn't the one that was called for: the BEGIN that travelled before it.
  var sql: String?
  /// Whether a plan was out of date, which only the server's function tells from other errors of its code.
  var isStalePlan = false
  /// That of the transaction whose outcome nobody knows.
  var commitToken: UUID?
  /// Whether the caller has stopped it, by a deadline or an interruption.
  var isStopped = false
  /// Whether the connection is gone, so that nobody knows what became of the statement.
  var isConnectionLost = false

  init(_ sqlState: String, _ message: String, isConnectionLost: Bool = false) {
    self.sqlState = sqlState
    self.message = message
    self.isConnectionLost = isConnectionLost
  }

  /// The failure that a result of libpq's is, of a statement with this text, which has values or not, or of a COPY
  /// into a table.
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
    // A name that isn't there has a place in the statement, unless it is a value: `$1::regclass`.
    let mayBeValue = (hasValues || relation != nil) && field(LARDER_PG_POSITION) == nil
    let kinds = mayBeValue ? ["22", "3D", "3F", "42"] : ["22"]
    // That of a sequence that has come to its end quotes its name alone.
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
    if let relation {
      row = field(LARDER_PG_CONTEXT).flatMap { Self.row(inContext: $0, of: relation) }
    }
    // After these the server closes the connection.
    isConnectionLost = ["FATAL", "PANIC"].contains(field(LARDER_PG_SEVERITY) ?? "FATAL")
  }

  /// Without values.
  var description: String { "PostgreSQL error \(sqlState): \(message)" }

  /// Positions count characters, which for the server are code points, from 1.
  static func byteOffset(ofCharacter position: Int, in sql: String) -> Int? {
    let scalars = sql.unicodeScalars
    guard position > 0,
      let index = scalars.index(
        scalars.startIndex, offsetBy: position - 1, limitedBy: scalars.endIndex)
    else { return nil }
    return sql.utf8.distance(from: sql.startIndex, to: index)
  }

  /// The row's number in `COPY city, line 3, column name`, where the words are of the server's language.
  static func row(inContext context: String, of relation: String) -> Int? {
    let start = "COPY \(relation), ".utf8
    guard context.utf8.starts(with: start) else { return nil }
    let rest = Substring(context.utf8.dropFirst(start.count))
    return rest.firstMatch(of: /[0-9]+/).flatMap { Int($0.output) }.map { $0 - 1 }
  }

  /// Messages on data repeat it in quotes; quotes inside of it aren't doubled, so that all between the first
  /// and the last goes.
  private static func withoutQuoted(_ message: String) -> String {
    guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""),
      first < last
    else { return message }
    return message[...first] + "…" + message[last...]
  }

  /// The columns of a key that is there already, which only the detail tells: `Key (a, "b c")=(1, 2) …`, with
  /// the words in the server's language, and quotes as in SQL.
  var keyColumns: [String] {
    guard sqlState == "23505", let names = detail?.firstMatch(of: /\((.*?)\)=\(/)?.1 else {
      return []
    }
    return names.matches(of: /"((?:[^"]|"")*)"|[^, ]+/).map { name in
      name.1.map { String($0).replacing("\"\"", with: "\"") } ?? String(name.0)
    }
  }

  /// One line of what may be several, with a line break at the end.
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
    // The name that the server gives to a primary key that has none.
    if let table, constraint == "\(table)_pkey", sqlState == "23505" { return .primaryKey }
    return ConstraintViolation.Kind(resultCode)
  }

  /// What to do about an error, where the server doesn't say.
  var advice: String? {
    switch sqlState {
    case "28P01", "28000": "user and password come from the address, the environment or ~/.pgpass"
    case "3D000": "CREATE DATABASE makes one"
    case "53300": "fewer PostgresConfiguration.connections, or more max_connections, may help"
    case "57P03": "it is starting or stopping, and may be there soon"
    case "25006": "only transactions write, on a server that isn't a standby"
    case "25P02": "a statement has failed before; what may fail belongs into inSavepoint"
    case SQLState.unknownOutcome:
      commitToken == nil
        ? "look whether the transaction was committed before it runs again"
        : "PostgresPool.outcome(of:) tells whether the transaction was committed, once there is a connection"
    case "42P01" where message.contains("larder_commit"):
      "PostgresConfiguration.commitTokens needs a table that Migrator.migrate makes"
    default: nil
    }
  }
}
