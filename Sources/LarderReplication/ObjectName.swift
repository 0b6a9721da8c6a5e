import LarderSQLite

/// The name of an object of a log, which tells what is in it. Below a database's prefix:
///
/// - `owner/EPOCH` for each owner;
/// - `GENERATION/log-FIRST-LAST-EPOCH-TIME-c` for segments (`p` if they end within a commit; `m`, `h` or `d` if
///   they were merged of those of a minute, an hour or a day);
/// - `GENERATION/part-START-NUMBER-EPOCH` for the parts of a whole copy, and
///   `GENERATION/base-START-END-EPOCH-TIME` once it is whole;
/// - `GENERATION/whole-START-END-EPOCH` after that, which says that there has been a whole copy if its end is lost;
/// - `GENERATION/name-SEGMENT-HEXADECIMAL` for a migration that segment has, and the ones before don't;
/// - `GENERATION/end-LAST-EPOCH` for the last segment that an owner has found when it began. What an earlier owner
///   has put behind it came too late, and doesn't count. An owner that begins another generation puts one, too.
enum ObjectName: Hashable {
  case segment(
    first: Int, last: Int, epoch: Int, time: Int, isCommit: Bool, level: LogLevel? = nil)
  case part(start: Int, number: Int, epoch: Int)
  case base(start: Int, end: Int, epoch: Int, time: Int)
  case whole(start: Int, end: Int, epoch: Int)
  case migration(segment: Int, name: String)
  case end(last: Int, epoch: Int)

  var text: String {
    switch self {
    case .segment(let first, let last, let epoch, let time, let isCommit, let level):
      "log-\(Digits.padded(first, 12))-\(Digits.padded(last, 12))-\(Digits.padded(epoch, 8))"
        + "-\(Digits.padded(time, 14))-\(level?.rawValue ?? (isCommit ? "c" : "p"))"
    case .part(let start, let number, let epoch):
      "part-\(Digits.padded(start, 12))-\(Digits.padded(number, 8))-\(Digits.padded(epoch, 8))"
    case .base(let start, let end, let epoch, let time):
      "base-\(Digits.padded(start, 12))-\(Digits.padded(end, 12))-\(Digits.padded(epoch, 8))"
        + "-\(Digits.padded(time, 14))"
    case .whole(let start, let end, let epoch):
      "whole-\(Digits.padded(start, 12))-\(Digits.padded(end, 12))-\(Digits.padded(epoch, 8))"
    case .migration(let segment, let name):
      "name-\(Digits.padded(segment, 12))-"
        + name.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    case .end(let last, let epoch):
      "\(Self.endPrefix)\(Digits.padded(last, 12))-\(Digits.padded(epoch, 8))"
    }
  }

  /// The names of ends begin with it.
  static let endPrefix = "end-"

  /// The beginning of the full names of segments that begin with a number.
  static func segments(from number: Int, in folder: String) -> String {
    "\(folder)log-\(Digits.padded(number, 12))-"
  }

  /// Nil for a name of another kind.
  init?(_ text: Substring) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    func number(_ index: Int) -> Int? { index < fields.count ? Int(fields[index]) : nil }
    switch (fields.first, fields.count) {
    case ("log", 6):
      guard let first = number(1), let last = number(2), let epoch = number(3),
        let time = number(4), first > 0, last >= first
      else { return nil }
      let level = LogLevel(rawValue: String(fields[5]))
      guard level != nil || ["c", "p"].contains(fields[5]) else { return nil }
      self = .segment(
        first: first, last: last, epoch: epoch, time: time, isCommit: fields[5] != "p",
        level: level)
    case ("part", 4):
      guard let start = number(1), let part = number(2), let epoch = number(3) else { return nil }
      self = .part(start: start, number: part, epoch: epoch)
    case ("base", 5):
      guard let start = number(1), let end = number(2), let epoch = number(3),
        let time = number(4), end >= start
      else { return nil }
      self = .base(start: start, end: end, epoch: epoch, time: time)
    case ("whole", 4):
      guard let start = number(1), let end = number(2), let epoch = number(3) else { return nil }
      self = .whole(start: start, end: end, epoch: epoch)
    case ("name", 3):
      let digits = Array(fields[2].utf8)
      guard let segment = number(1), digits.count % 2 == 0 else { return nil }
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
      }
      self = .migration(segment: segment, name: String(decoding: bytes, as: UTF8.self))
    case ("end", 3):
      guard let last = number(1), let epoch = number(2) else { return nil }
      self = .end(last: last, epoch: epoch)
    default: return nil
    }
  }
}

/// The name of a generation, `EPOCH-TIME-NUMBER`. Names sort as generations follow each other.
struct GenerationName: Hashable, Comparable {
  let text: String
  /// When it began, in milliseconds since 1970.
  var time: Int { Int(text.dropFirst(9).prefix(14)) ?? 0 }
  var checksum: UInt64 { Array(text.utf8).withUnsafeBytes { Checksum.of($0) } }

  init(epoch: Int, time: Int) {
    let number = Digits.hexadecimal(.random(in: 0 ... .max)).suffix(8)
    text = "\(Digits.padded(epoch, 8))-\(Digits.padded(time, 14))-\(number)"
  }

  init?(_ text: some StringProtocol) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.map(\.utf8.count) == [8, 14, 8], Int(fields[0]) != nil, Int(fields[1]) != nil
    else { return nil }
    self.text = String(text)
  }

  static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}

/// How long the periods are whose segments are merged into one.
enum LogLevel: String, CaseIterable {
  case minutes = "m"
  case hours = "h"
  case days = "d"

  /// In milliseconds.
  var length: Int {
    switch self {
    case .minutes: 60_000
    case .hours: 3_600_000
    case .days: 86_400_000
    }
  }
}
