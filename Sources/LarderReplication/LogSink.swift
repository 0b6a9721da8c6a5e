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
    var epoch = try LogOwner.epochs(self, prefix).max() ?? 0
    while true {
      epoch += 1
      guard try put(LogOwner.name(prefix, epoch), Array(owner.utf8)) else { continue }
      // If others have become owners since the list was made, the objects of earlier ones may have been removed, and
      // this is the number of one of them. One that a later owner follows at once finds that out as always.
      let epochs = try LogOwner.epochs(self, prefix)
      guard let last = epochs.max(), last > epoch, !epochs.contains(epoch + 1) else { return epoch }
      epoch = last
    }
  }
}

/// The owner of a log, as an object says that its number names.
///
/// **Why the objects of former owners can be removed.** An owner has a later one if there is an object of the next
/// number, or if its own object isn't there any more: the latest owner removes the earlier ones' objects in the order of
/// their numbers, so that one's own goes before the next. Each has a text of its own, so that nobody takes an object for
/// its own that somebody has put with a number that was used before. The latest owner's object stays, and whoever becomes
/// the owner looks for higher numbers after it has put its object.
struct LogOwner {
  let prefix: String
  let epoch: Int
  /// The content of the object; nil if the sink's own way to become the owner puts none.
  let mark: [UInt8]?

  static let folder = "owner/"

  static func name(_ prefix: String, _ epoch: Int) -> String {
    prefix + folder + Digits.padded(epoch, 8)
  }

  static func epochs(_ sink: some LogSink, _ prefix: String) throws -> Set<Int> {
    Set(
      try sink.list(prefix + folder).compactMap { object in
        let last = FileLocation.name(at: object.name)
        return last.utf8.count == 8 ? Int(last) : nil
      })
  }

  /// Becomes the owner.
  init(of prefix: String, in sink: any LogSink, as text: String) throws {
    self.prefix = prefix
    let mark = Array(text.utf8)
    epoch = try sink.lease(prefix, for: text)
    self.mark = try sink.get(Self.name(prefix, epoch)) == nil ? nil : mark
  }

  /// Whether there is no later owner.
  ///
  /// - Parameter isQuick: whether to look for the next owner only, which is enough unless it was one for a while.
  func isLatest(in sink: any LogSink, isQuick: Bool = false) throws -> Bool {
    if try sink.get(Self.name(prefix, epoch + 1)) != nil { return false }
    guard let mark, !isQuick else { return true }
    guard let found = try sink.get(Self.name(prefix, epoch)) else { return false }
    if found == mark { return true }
    guard !mark.starts(with: found) else {
      throw DatabaseError(.ioError, "half of \(Self.name(prefix, epoch)) was returned")
    }
    return false
  }

  /// Removes the objects of former owners.
  func removeFormer(from sink: any LogSink) throws {
    guard mark != nil, try isLatest(in: sink) else { return }
    let epochs = try Self.epochs(erased: sink, prefix)
    // A list that lacks this owner's object may lack others.
    guard epochs.contains(epoch) else { return }
    for former in epochs.filter({ $0 < epoch }).sorted() {
      if !epochs.contains(former - 1), try sink.get(Self.name(prefix, former - 1)) != nil { return }
      try sink.remove(Self.name(prefix, former))
    }
  }

  private static func epochs(erased sink: any LogSink, _ prefix: String) throws -> Set<Int> {
    try epochs(sink, prefix)
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
