import CLibPQ
import Glibc
import LarderSQLite

/// Where a server is and who connects to it: a connection string, as libpq reads it, and the settings that
/// this library relies on.
///
/// No error repeats any of it that might be a part of a password that was written without the quotes or
/// percent-encodings it needs.
///
/// See [Connection Strings](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
struct ServerAddress {
  private var keywords: [(name: String, value: String)] = []
  /// Whether settings can travel in `options`: not where a service file may have some of its own.
  private let takesOptions: Bool

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
    takesOptions = getenv("PGSERVICE") == nil && !keywords.contains { $0.name == "service" }
    let ports = keywords.first { $0.name == "port" }?.value ?? ""
    guard ports.utf8.allSatisfy("0123456789,".utf8.contains) else { throw Self.unreadable }
  }

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

  // MARK: Settings

  /// What the library relies on. Values are read in binary, so that these are for what SQL itself makes text
  /// of.
  private static func settings(_ options: PostgresConnection.Options) -> [(String, String)] {
    // A pooler takes these few as parameters of a connection, and refuses others.
    var settings = [
      ("standard_conforming_strings", "on"), ("TimeZone", "UTC"), ("DateStyle", "ISO"),
    ]
    if options.preparesStatements {
      settings += [("IntervalStyle", "postgres"), ("extra_float_digits", "1")]
      if let isolation = options.isolation {
        settings.append(("default_transaction_isolation", isolation))
      }
    }
    return settings
  }

  /// Begins to connect. The settings travel in the first message, behind the options of the address.
  func start(_ options: PostgresConnection.Options) throws -> OpaquePointer {
    var all = keywords + [("client_encoding", "UTF8")]
    if takesOptions {
      let own = keywords.last { $0.name == "options" }?.value
      let settings = Self.settings(options).map { name, value in
        "-c \(name)=\(value.replacing(" ", with: "\\ "))"
      }
      let first = own ?? getenv("PGOPTIONS").map { String(cString: $0) } ?? ""
      all.append(("options", ([first] + settings).joined(separator: " ")))
    }
    let string = all.map { name, value in
      let escaped = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
      return "\(name)='\(escaped)'"
    }.joined(separator: " ")
    guard let handle = PQconnectStart(string) else {
      throw PostgresFailure("53200", "out of memory")
    }
    larder_ignore_notices(handle)
    // Until the connection is there, an error's code is only to be had in its text.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    return handle
  }

  /// What still has to be set: all of it where the settings could not travel, else nothing, unless the
  /// environment has overridden them (`PGTZ`, `PGDATESTYLE`).
  func missingSettings(
    _ options: PostgresConnection.Options, on handle: OpaquePointer?
  ) -> [String] {
    func reported(_ name: String) -> String? {
      PQparameterStatus(handle, name).map { String(cString: $0) }
    }
    let isSet =
      takesOptions && reported("TimeZone") == "UTC"
      && reported("DateStyle")?.hasPrefix("ISO") ?? false
      && reported("standard_conforming_strings") == "on"
    return isSet ? [] : Self.settings(options).map { "SET \($0) TO '\($1)'" }
  }
}
