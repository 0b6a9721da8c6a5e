import CLibPQ
import Glibc
import LarderSQLite

/// A connection string, as libpq reads it: where the servers are, and who connects to them.
///
/// No error repeats a part that might belong to a password that was written without the quotes or
/// percent-encodings that it needs.
///
/// See [Connection Strings](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
struct ServerAddress {
  private var keywords: [(name: String, value: String)] = []

  init(_ address: String) throws {
    guard !address.utf8.contains(0), Self.isClear(address),
      let parsed = PQconninfoParse(address, nil)
    else { throw Self.unreadable }
    defer { PQconninfoFree(parsed) }
    var next = parsed
    while let name = next.pointee.keyword {
      if let value = next.pointee.val {
        keywords.append((String(cString: name), String(cString: value)))
      }
      next += 1
    }
    let ports = keywords.first { $0.name == "port" }?.value ?? ""
    guard ports.utf8.allSatisfy("0123456789,".utf8.contains) else { throw Self.unreadable }
  }

  // MARK: Several servers

  /// Each server of a list (`host=a,b,c`) as an address of its own. libpq would spend all of the time on a
  /// server that doesn't answer, and begin with it again each time.
  ///
  /// See
  /// [Specifying Multiple Hosts](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS).
  var servers: [ServerAddress] {
    get throws {
      let places = ["host", "hostaddr", "port"]
      let lists = places.map { name in
        (value(of: name) ?? Self.common(name))?.split(
          separator: ",", omittingEmptySubsequences: false
        )
        .map(String.init) ?? []
      }
      let count = max(lists[0].count, lists[1].count)
      guard count > 1 else { return [self] }
      // A single port applies to all hosts.
      guard lists.dropFirst().allSatisfy({ $0.count <= 1 || $0.count == count }),
        lists[0].isEmpty || lists[0].count == count, lists[1].count != 1
      else {
        throw PostgresFailure(
          SQLState.cannotConnect, "the server's address has different numbers of hosts and ports")
      }
      return (0..<count).map { index in
        var one = self
        for (name, list) in zip(places, lists) where !list.isEmpty {
          one.set(name, list.count == 1 ? list[0] : list[index])
        }
        return one
      }
    }
  }

  /// The kind of server that is wanted; nil if neither the address nor the environment says.
  var target: String? { value(of: "target_session_attrs") ?? Self.common("target_session_attrs") }

  /// A copy that accepts only servers of a kind: `read-write`, `standby`, `any` …
  func wanting(_ target: String) -> ServerAddress {
    var copy = self
    copy.set("target_session_attrs", target)
    return copy
  }

  /// A copy that connects by the replication protocol, to the database.
  var replicating: ServerAddress {
    var copy = self
    copy.set("replication", "database")
    return copy
  }

  /// The host and port, for statistics.
  var name: String {
    let host = value(of: "host") ?? value(of: "hostaddr") ?? "localhost"
    return "\(host):\(value(of: "port").flatMap { $0.isEmpty ? nil : $0 } ?? "5432")"
  }

  private func value(of name: String) -> String? { keywords.last { $0.name == name }?.value }

  private mutating func set(_ name: String, _ value: String) {
    keywords.removeAll { $0.name == name }
    if !value.isEmpty { keywords.append((name, value)) }
  }

  /// The environment's value of a keyword. A service file is libpq's own to read, and so is a list in it.
  private static func common(_ name: String) -> String? {
    let variables = [
      "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT",
      "target_session_attrs": "PGTARGETSESSIONATTRS",
    ]
    return variables[name].flatMap { getenv($0) }.map { String(cString: $0) }
  }

  // MARK: Names

  /// Whether a text is meant as an address, even a wrong one: a URL, or text that begins with one of libpq's
  /// keywords.
  static func isMeant(by text: String) -> Bool {
    if ["postgres://", "postgresql://"].contains(where: text.hasPrefix) { return true }
    guard let sign = text.firstIndex(of: "="), let defaults = PQconndefaults() else { return false }
    defer { PQconninfoFree(defaults) }
    let word = text[..<sign].split(separator: " ")
    var next = defaults
    while let keyword = next.pointee.keyword {
      if word == [Substring(String(cString: keyword))] { return true }
      next += 1
    }
    return false
  }

  /// The servers, user and database as pairs, without anything that might be a secret.
  var places: String {
    ["host", "hostaddr", "port", "user", "dbname", "service"].compactMap { name in
      value(of: name).map { "\(name)=\($0)" }
    }.joined(separator: " ")
  }

  // MARK: Reading

  private static let unreadable = PostgresFailure(
    SQLState.cannotConnect,
    "the server's address is neither a URL, postgres://user@host:port/database, nor keyword=value pairs; "
      + "in a URL, percent-encode a password's @ : / ? # & and %; in a pair, quote spaces and '"
  )

  /// Whether the address is unambiguous. If an @ or / of a password isn't encoded, libpq takes the rest of
  /// the password for a host, port or database, which errors name.
  private static func isClear(_ address: String) -> Bool {
    guard let scheme = address.firstRange(of: "://") else { return true }
    guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") else {
      return address[..<scheme.lowerBound].contains("=")
    }
    let rest = address[scheme.upperBound...]
    let path = rest.prefix { $0 != "?" && $0 != "#" }
    guard !rest.contains("#"), path.count(where: { $0 == "@" }) <= 1 else { return false }
    return !path.drop { $0 != "/" }.contains("@")
  }

  /// Settings by which the system gives a connection up after half a minute, rather than hours, if the other
  /// end doesn't answer. Statements have their own deadlines, if any.
  private static let patience = [
    ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
  ]

  /// Begins to connect. ``PostgresConnection/connect()`` continues.
  ///
  /// - Parameter warning: set to 1 when a commit stops waiting for standbys. It has to outlive the
  ///   connection.
  func start(warning: UnsafeMutablePointer<CInt>) throws -> OpaquePointer {
    var keywords = [("client_encoding", "UTF8")]
    // A service file may have its own settings.
    if value(of: "service") == nil {
      keywords += Self.patience.filter { value(of: $0.0) == nil }
    }
    guard let handle = PQconnectStart(string(with: keywords)) else {
      throw PostgresFailure(SQLState.outOfMemory, "out of memory")
    }
    larder_receive_notices(handle, warning)
    // Before the connection is made, an error's code is found only in its text.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    return handle
  }

  private func string(with others: [(String, String)]) -> String {
    (keywords + others).map { name, value in "\(name)='\(value.escaping("\\'"))'" }
      .joined(separator: " ")
  }

  /// Asks the server whether it accepts connections, and waits some seconds for its answer.
  func ping() -> PGPing { PQping(string(with: [("connect_timeout", "3")])) }
}

extension PostgresConnection {
  /// Continues connecting until the server has accepted the connection.
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

  /// The failure to connect. libpq keeps the fields of an error only once it is connected; before, the code
  /// stands in the text: `FATAL:  28P01: password authentication failed`, where only the first word is
  /// translated.
  static func connectionFailure(_ text: String) -> PostgresFailure {
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
    let sqlState = text.matches(of: #/:  ([0-9A-Z]{5}): /#).last.map { String($0.1) }
    return PostgresFailure(
      sqlState ?? SQLState.cannotConnect, lines.joined(separator: "; "), isConnectionLost: true)
  }
}
