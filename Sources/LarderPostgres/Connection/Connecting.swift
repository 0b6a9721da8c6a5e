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

  /// Sets what could not be set while connecting.
  func settle(_ address: ServerAddress) throws {
    guard let handle else { return }
    for setting in address.missingSettings(options, on: handle) { try run(setting) }
  }

  /// libpq keeps the fields of an error only once it is connected; before, the code stands in the text:
  /// `FATAL:  28P01: password authentication failed`, where only the first word is translated.
  static func connectionFailure(_ text: String) -> PostgresFailure {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
    let message = lines.joined(separator: "; ")
    return PostgresFailure(
      sqlState(in: Array(text.utf8)) ?? SQLState.cannotConnect, message, isConnectionLost: true)
  }

  /// The last code among the bytes: five capital letters and digits between `:  ` and `: `.
  private static func sqlState(in text: [UInt8]) -> String? {
    let colon = UInt8(ascii: ":"), space = UInt8(ascii: " ")
    for start in text.indices.dropFirst(3).dropLast(6).reversed()
    where text[(start - 3)..<start].elementsEqual([colon, space, space])
      && text[start + 5] == colon && text[start + 6] == space
    {
      let code = text[start..<(start + 5)]
      let isCode = code.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
      }
      if isCode { return String(decoding: code, as: UTF8.self) }
    }
    return nil
  }
}
