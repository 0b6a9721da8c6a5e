import LarderSQLite

/// The place that a log is shipped to: objects of bytes under names, as in a folder or an S3 bucket.
///
/// ``FolderSink`` is one, `LogSink.folder(_:)`. A program's own needs five calls, which are made by one or
/// more threads, block, and throw if the place can't be reached. Then they are repeated later, with back-off.
///
/// Names consist of ASCII letters, digits, `-`, `_`, `.` and `/`. An object is never changed once it was put.
public protocol LogSink: Sendable {
  /// Stores an object as a whole: when this returns, it is durable, and before that nobody finds a part of it.
  /// Returns false, and changes nothing, if there is an object of that name.
  ///
  /// A place that can't tell may replace an object of that name. Then two owners that write at the same time
  /// find out later: see ``lease(_:for:)``.
  func put(_ name: String, _ bytes: [UInt8]) throws -> Bool
  /// The bytes of an object; nil if there is none of that name.
  func get(_ name: String) throws -> [UInt8]?
  /// The objects whose names begin with a prefix, in any order.
  func list(_ prefix: String) throws -> [LogObject]
  /// Removes an object, if there is one.
  func remove(_ name: String) throws
  /// Makes the caller the owner of everything whose name begins with a prefix, in place of any earlier one.
  /// Returns a number that is higher than those of all earlier owners (an epoch). No two callers get the same.
  ///
  /// There is an implementation by means of the other calls, which suffices if ``put(_:_:)`` tells whether an
  /// object exists.
  func lease(_ prefix: String, for owner: String) throws -> Int
}

/// An object of a ``LogSink``, as listed.
public struct LogObject: Hashable, Sendable {
  /// The whole name.
  public let name: String
  /// The size in bytes.
  public let bytes: Int

  /// An object with a name and a size.
  public init(name: String, bytes: Int) {
    self.name = name
    self.bytes = bytes
  }
}

extension LogSink {
  /// Puts an object with the next number under the prefix, which succeeds for one caller only.
  public func lease(_ prefix: String, for owner: String) throws -> Int {
    var epoch =
      (try list(prefix + OwnerName.folder).compactMap { OwnerName.epoch($0.name) }.max()) ?? 0
    while true {
      epoch += 1
      if try put(OwnerName.name(prefix, epoch), Array(owner.utf8)) { return epoch }
    }
  }
}

/// The name of the object that makes somebody the owner of a log.
enum OwnerName {
  static let folder = "owner/"

  static func name(_ prefix: String, _ epoch: Int) -> String {
    prefix + folder + Digits.padded(epoch, 8)
  }

  static func epoch(_ name: String) -> Int? {
    let last = FileLocation.name(at: name)
    return last.utf8.count == 8 ? Int(last) : nil
  }
}

/// Numbers with leading zeros, so that names sort as the numbers do.
enum Digits {
  static func padded(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
