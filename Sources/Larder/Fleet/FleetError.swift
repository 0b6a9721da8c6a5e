/// Why a ``DatabaseFleet`` has no database for a key, or could not do with all of them what was asked for.
public enum FleetError: Error, Sendable {
  /// The key is empty.
  case emptyKey
  /// The key's file would have a longer name than there can be: small letters and digits of ASCII, `_` and `-`
  /// take a byte each, other bytes of UTF-8 three, and there are so many for all of them.
  case keyTooLong(String, limit: Int)
  /// There is no database of this key, and none is to be made by using it.
  case noDatabase(key: String)
  /// ``FleetConfiguration/fileExtension`` isn't 1 to 16 small letters and digits.
  case wrongExtension(String)
  /// Some databases could not be migrated or copied; all others were.
  case failures(FleetReport)
}

/// A database that couldn't be opened as the process has no file descriptors left; others are closed for it.
struct OutOfDescriptors: Error {
  let underlying: any Error
}

extension FleetError: CustomStringConvertible {
  /// One line with the key and what is wrong; where several failed, the first three of them.
  public var description: String {
    switch self {
    case .emptyKey: "the key of a database is empty"
    case .keyTooLong(let key, let limit):
      "the key “\(key.prefix(40))…” is too long for a file's name: it takes more than \(limit) bytes"
    case .noDatabase(let key): "there is no database “\(key)”"
    case .wrongExtension(let name):
      "“\(name)” is no extension of files: 1 to 16 small letters and digits are"
    case .failures(let report):
      "\(report.failures.count) of \(report.total) databases failed: "
        + report.failures.prefix(3).map { "“\($0.key)”: \($0.error)" }.joined(separator: "; ")
        + (report.failures.count > 3 ? "; …" : "")
    }
  }
}

/// What came of doing something with all databases of a fleet.
public struct FleetReport: Sendable {
  /// How many databases there were.
  public internal(set) var total = 0
  /// How many were migrated or copied.
  public internal(set) var changed = 0
  /// How many needed nothing: they were up to date, or their copies were.
  public internal(set) var unchanged = 0
  /// Those that failed, in the order in which they did.
  public internal(set) var failures: [Failure] = []

  /// A database with which it could not be done.
  public struct Failure: Sendable {
    /// Its key.
    public let key: String
    /// What it has thrown.
    public let error: any Error
  }

  /// How many are done, well or not.
  public var done: Int { changed + unchanged + failures.count }
}
