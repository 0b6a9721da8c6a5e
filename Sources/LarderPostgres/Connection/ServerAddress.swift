import CLibPQ
import Glibc
import LarderSQLite

/// Where servers are and who connects to them: a connection string, as libpq reads it.
///
/// No error repeats any of it that might be a part of a password that was written without the quotes or
/// percent-encodings it needs.
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

  /// Each server of a list (`host=a,b,c`) as an address of its own: libpq would wait for one that doesn't answer
  /// as long as for all, and begin with it again each time.
  ///
  /// See [Specifying Multiple Hosts](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS).
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
      // One port is that of all.
      guard lists.dropFirst().allSatisfy({ $0.count <= 1 || $0.count == count }),
        lists[0].isEmpty || lists[0].count == count, lists[1].count != 1
      else {
        throw PostgresFailure(
          SQLState.cannotConnect, "the server's address has other numbers of hosts and of ports")
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

  /// Which kind of server is wanted; nil where the address doesn't say, nor the environment.
  var target: String? { value(of: "target_session_attrs") ?? Self.common("target_session_attrs") }

  /// The same that accepts only servers of a kind: `read-write`, `standby`, `any` …
  func wanting(_ target: String) -> ServerAddress {
    var copy = self
    copy.set("target_session_attrs", target)
    return copy
  }

  /// Host and port, for statistics.
  var name: String {
    let host = value(of: "host") ?? value(of: "hostaddr") ?? "localhost"
    return "\(host):\(value(of: "port").flatMap { $0.isEmpty ? nil : $0 } ?? "5432")"
  }

  private func value(of name: String) -> String? { keywords.last { $0.name == name }?.value }

  private mutating func set(_ name: String, _ value: String) {
    keywords.removeAll { $0.name == name }
    if !value.isEmpty { keywords.append((name, value)) }
  }

  /// What the environment says, where the address leaves it out. A service file is libpq's own to read, and so is a
  /// list in it.
  private static func common(_ name: String) -> String? {
    let variables = [
      "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT",
      "target_session_attrs": "PGTARGETSESSIONATTRS",
    ]
    return variables[name].flatMap { getenv($0) }.map { String(cString: $0) }
  }

  // MARK: Names

  /// Whether a text is meant as an address, be it a wrong one: a URL, or something that begins with one of libpq's
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

  /// Where it leads to, as pairs, without anything that might be a secret.
  var places: String {
    ["host", "hostaddr", "port", "user", "dbname", "service"].compactMap { name in
      value(of: name).map { "\(name)=\($0)" }
    }.joined(separator: " ")
  }

  // MARK: Reading

  private static let unreadable = PostgresFailure(
    SQLState.cannotConnect,
    "the server's address is neither a URL, postgres://user@host:port/database, nor keyword=value pairs; "
      + "a password's @ : / ? # & and % have to be percent-encoded in a URL, spaces and ' quoted in a pair"
  )

  /// Whether there is only one way to read it: an @ or / of a password that isn't encoded makes libpq take
  /// the rest of the password for a host, port or database, and errors name these.
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

  /// When the system gives a connection up whose other end doesn't answer: after half a minute, rather than hours. What is
  /// asked for meanwhile has its own deadline, if it has one.
  private static let patience = [
    ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
  ]

  /// Begins to connect.
  ///
  /// - Parameter warning: becomes 1 where a commit stops waiting for standbys; for as long as the connection is.
  func start(warning: UnsafeMutablePointer<CInt>) throws -> OpaquePointer {
    var keywords = keywords
    // A service file has its own.
    if value(of: "service") == nil {
      for (name, value) in Self.patience where self.value(of: name) == nil {
        keywords.append((name, value))
      }
    }
    let string = (keywords + [("client_encoding", "UTF8")]).map { name, value in
      "\(name)='\(value.escaping("\\'"))'"
    }.joined(separator: " ")
    guard let handle = PQconnectStart(string) else {
      throw PostgresFailure("53200", "out of memory")
    }
    larder_receive_notices(handle, warning)
    // Until the connection is there, an error's code is only to be had in its text.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    return handle
  }
}

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
