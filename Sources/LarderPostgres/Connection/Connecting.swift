import CLibPQ
import Glibc
import LarderSQLite

extension PostgresConnection {
  /// Goes on with what libpq has begun until the server has accepted the connection.
  func connect() throws {
    guard let handle else { return }
    var state = PGRES_POLLING_WRITING
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD else {
        throw Self.connectionFailure(String(cString: PQerrorMessage(handle)))
      }
      try wait(for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
      state = PQconnectPoll(handle)
    }
    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw lost() }
    isConnected = true
  }

  /// libpq keeps the fields of an error only once it is connected; before, the code stands in the text:
  /// `FATAL:  28P01: password authentication failed`, where only the first word is translated.
  static func connectionFailure(_ text: String) -> PostgresFailure {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
    let sqlState = text.matches(of: #/:  ([0-9A-Z]{5}): /#).last.map { String($0.1) }
    return PostgresFailure(
      sqlState ?? SQLState.cannotConnect, lines.joined(separator: "; "), isConnectionLost: true)
  }
}
