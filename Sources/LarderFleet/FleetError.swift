import Larder

/// The reason why a ``DatabaseFleet`` has no database for a key, or why an operation on all databases
/// failed.
public enum FleetError: Error, Sendable {
  /// The key is empty.
  case emptyKey
  /// The key's file name would be too long. Lowercase ASCII letters, digits, `_` and `-` take one byte
  /// each, other bytes of UTF-8 three; `limit` is the most bytes in total.
  case keyTooLong(String, limit: Int)
  /// There is no database with this key, and using it doesn't create one.
  case noDatabase(key: String)
  /// ``FleetConfiguration/fileExtension`` isn't 1 to 16 lowercase letters and digits.
  case wrongExtension(String)
  /// Some databases could not be migrated or copied; all others were.
  case failures(FleetReport)
}

/// The error for a database that couldn't be opened because the process has no file descriptors left.
/// Others are closed for it.
struct OutOfDescriptors: Error {
  let underlying: any Error
}

extension FleetError: CustomStringConvertible {
  /// One line with the key and what is wrong; if several databases failed, with the first three of them.
  public var description: String {
    switch self {
    case .emptyKey: "the key of a database is empty"
    case .keyTooLong(let key, let limit):
      "the key “\(key.prefix(40))…” is too long for a file's name: it takes more than \(limit) bytes"
    case .noDatabase(let key): "there is no database “\(key)”"
    case .wrongExtension(let name):
      "“\(name)” isn't a valid file extension: use 1 to 16 lowercase letters and digits"
    case .failures(let report):
      "\(report.failures.count) of \(report.total) databases failed: "
        + report.failures.prefix(3).map { "“\($0.key)”: \($0.error)" }.joined(separator: "; ")
        + (report.failures.count > 3 ? "; …" : "")
    }
  }
}

/// The progress of an operation on all databases of a fleet, and in the end its result.
public struct FleetReport: Sendable {
  /// How many databases there were.
  public internal(set) var total = 0
  /// How many were migrated or copied.
  public internal(set) var changed = 0
  /// How many needed nothing: they were up to date, or their copies were.
  public internal(set) var unchanged = 0
  /// The databases that failed, by their keys, each with the error that the operation threw; in the
  /// order in which they did.
  public internal(set) var failures: [(key: String, error: any Error)] = []

  /// How many are done, successfully or not.
  public var count: Int { changed + unchanged + failures.count }
}
