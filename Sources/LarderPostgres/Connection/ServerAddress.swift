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
  private let address: String
  /// The `options` of the connection string; nil where a service file may have others.
  private var ownOptions: String?

  init(_ address: String) throws {
    self.address = address
    guard !address.utf8.contains(0), Self.isClear(address),
      let keywords = PQconninfoParse(address, nil)
    else { throw Self.unreadable }
    defer { PQconninfoFree(keywords) }
    func value(_ keyword: String) -> String? {
      var next = keywords
      while let name = next.pointee.keyword {
        if strcmp(name, keyword) == 0 { return next.pointee.val.map { String(cString: $0) } }
        next += 1
      }
      return nil
    }
    guard value("port")?.utf8.allSatisfy({ "0123456789,".utf8.contains($0) }) ?? true else {
      throw Self.unreadable
    }
    let hasService = value("service") != nil || getenv("PGSERVICE") != nil
    ownOptions =
      hasService
      ? nil : value("options") ?? getenv("PGOPTIONS").map { String(cString: $0) } ?? ""
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

  /// What the library relies on, and what was asked for. Values are read in binary, so that these are for
  /// what SQL itself makes text of.
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
    return settings + options.settings.sorted { $0.key < $1.key }
  }

  /// Begins to connect. The settings travel in the first message.
  func start(_ options: PostgresConnection.Options) throws -> OpaquePointer {
    var keywords = ["dbname", "client_encoding"]
    var values = [address, "UTF8"]
    if let ownOptions {
      let settings = Self.settings(options).map { name, value in
        let escaped = value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
        return "-c \(name)=\(escaped)"
      }
      keywords.append("options")
      values.append(([ownOptions] + settings).joined(separator: " "))
    }
    let handle = Self.withCStrings(keywords) { keywords in
      Self.withCStrings(values) { PQconnectStartParams(keywords, $0, 1) }
    }
    guard let handle else { throw PostgresFailure("53200", "out of memory") }
    larder_ignore_notices(handle)
    // Until the connection is there, an error's code is only to be had in its text.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    return handle
  }

  /// What still has to be set: all of it where the settings could not travel, else nothing, unless the
  /// environment has overridden them (`PGTZ`, `PGDATESTYLE`).
  func missingSettings(_ options: PostgresConnection.Options, on handle: OpaquePointer) -> String? {
    func reported(_ name: String) -> String? {
      PQparameterStatus(handle, name).map { String(cString: $0) }
    }
    let isSet =
      ownOptions != nil && reported("TimeZone") == "UTC"
      && reported("DateStyle")?.hasPrefix("ISO") ?? false
      && reported("standard_conforming_strings") == "on"
    return isSet
      ? nil
      : Self.settings(options).map { name, value in
        "SET \(name) TO '\(value.replacing("'", with: "''"))'"
      }.joined(separator: "; ")
  }

  /// Calls a closure with C strings and a nil after them.
  private static func withCStrings<T>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T
  ) -> T {
    var copies = strings.map { UnsafePointer(strdup($0)) } + [nil]
    defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
    return copies.withUnsafeMutableBufferPointer { body(UnsafePointer($0.baseAddress)) }
  }
}
