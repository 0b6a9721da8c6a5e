import LarderSQLite
import LarderTerminal

/// The rules by which two texts are the same value of a server's type.
///
/// The server accepts more spellings than it writes, and changes some values silently: it rounds `numeric(10,
/// 2)`, and drops the zone of a `timestamp`. So the values that arrive are compared with those that were
/// sent, and a difference that no rule explains is an error.
enum ServerForm: Equatable {
  case decimal
  /// `character(n)`, in which trailing spaces have no meaning.
  case padded
  case uuid
  /// `date`, which a time at the beginning of a day in UTC equals.
  case day
  /// `timestamp`, which Larder reads as UTC.
  case timestamp
  /// `timestamp with time zone`. Without a zone it is UTC, the connection's time zone.
  case instant
  case json
  /// An array or a range.
  case lists(ServerLists)
  /// Another type, whose texts are equal only if they are identical.
  case asWritten

  init(ofServerType type: String) {
    switch type {
    case "uuid": self = .uuid
    case "date": self = .day
    case "jsonb": self = .json
    case "bpchar": self = .padded
    case _ where type.hasSuffix("]") || type.hasSuffix("range"):
      self = ServerLists(ofServerType: type).map { .lists($0) } ?? .asWritten
    case _ where type.hasPrefix("numeric"): self = .decimal
    case _ where type.hasPrefix("character("): self = .padded
    case _ where type.hasPrefix("timestamp"):
      self = type.hasSuffix("with time zone") ? .instant : .timestamp
    default: self = .asWritten
    }
  }

  func hash(_ text: UnsafeRawBufferPointer, into hasher: inout Hasher) {
    switch self {
    case .decimal:
      if let number = DecimalNumber(text) { return hasher.combine(number) }
    case .padded:
      let end = text.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
      return hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: text[..<end]))
    case .uuid:
      if let digits = Self.uuidDigits(of: text) { return hasher.combine(digits) }
    case .day:
      if let time = ServerTime(text, takesZone: true), time.isMidnight {
        return hasher.combine(time)
      }
    case .timestamp, .instant:
      if let time = ServerTime(text, takesZone: self == .instant) { return hasher.combine(time) }
    case .json:
      if let json = JSONForm.text(of: text) { return hasher.combine(json) }
    case .lists(let lists): return lists.hash(text, into: &hasher)
    case .asWritten: break
    }
    hasher.combine(bytes: text)
  }

  /// Whether the values are days or moments.
  var isOfDates: Bool { self == .day || self == .timestamp || self == .instant }

  /// The values of a UUID's 32 digits, in any spelling that the server reads; nil for another text.
  static func uuidDigits(of text: UnsafeRawBufferPointer) -> [UInt8]? {
    let digits = text.compactMap(\.hexadecimalDigit)
    let others = text.count { $0.hexadecimalDigit == nil && !"-{}".utf8.contains($0) }
    return digits.count == 32 && others == 0 ? digits : nil
  }
}

/// A point in time, parsed from texts such as `2024-01-31 10:00:00.5+02`.
struct ServerTime: Hashable {
  private let seconds: Int
  /// The digits of the fraction, without trailing zeros.
  private let fraction: [UInt8]

  var isMidnight: Bool { seconds.isMultiple(of: 86_400) && fraction.isEmpty }

  /// Parses a text; nil if it has another form. The server leaves out a zone of a type that takes none, which
  /// changes nothing if it is UTC.
  init?(_ text: UnsafeRawBufferPointer, takesZone: Bool) {
    var rest = text[...]
    func number(_ count: Int, behind mark: String = "", below limit: Int) -> Int? {
      if !mark.isEmpty {
        guard let byte = rest.first, mark.utf8.contains(byte) else { return nil }
        rest = rest.dropFirst()
      }
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy({ $0.decimalDigit != nil }),
        let value = Int(decimal: digits), value < limit
      else { return nil }
      rest = rest.dropFirst(count)
      return value
    }
    guard let year = number(4, below: 10_000), year > 0,
      let month = number(2, behind: "-", below: 13), let day = number(2, behind: "-", below: 32)
    else { return nil }
    let days = CivilTime.daysSince1970(year: year, month: month, day: day)
    guard CivilTime.calendarDay(daysSince1970: days) == (year, month, day) else { return nil }
    var time = days * 86_400
    var fraction: [UInt8] = []
    if !rest.isEmpty {
      guard let hour = number(2, behind: " T", below: 24),
        let minute = number(2, behind: ":", below: 60)
      else { return nil }
      time += hour * 3600 + minute * 60
      if rest.first == UInt8(ascii: ":") {
        guard let second = number(2, behind: ":", below: 60) else { return nil }
        time += second
        if rest.first == UInt8(ascii: ".") {
          fraction = Array(rest.dropFirst().prefix { $0.decimalDigit != nil })
          rest = rest.dropFirst(fraction.count + 1)
          if fraction.isEmpty { return nil }
        }
      }
      if rest.elementsEqual("Z".utf8) {
        rest = rest.dropFirst()
      } else if takesZone, let sign = rest.first {
        guard let hours = number(2, behind: "+-", below: 16) else { return nil }
        var offset = hours * 3600
        if !rest.isEmpty {
          guard
            let minutes = number(2, behind: rest.first == UInt8(ascii: ":") ? ":" : "", below: 60)
          else { return nil }
          offset += minutes * 60
        }
        time += sign == UInt8(ascii: "-") ? offset : -offset
      }
    }
    guard rest.isEmpty else { return nil }
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    seconds = time
    self.fraction = fraction
  }
}

/// The canonical form of JSON, equal for what `jsonb` considers equal: the order of objects' members doesn't
/// matter, and numbers are compared by value.
enum JSONForm {
  /// The nesting limit; JSON that is deeper is compared as text.
  private static let mostDepth = 100

  /// The canonical parts of a JSON text. Nil if it isn't JSON, or has a name twice, since `jsonb` keeps only
  /// one of them.
  static func text(of bytes: UnsafeRawBufferPointer) -> [AnyHashable]? {
    bytes.withMemoryRebound(to: UInt8.self) { bytes in
      guard let range = try? JSONScanner.value(of: bytes) else { return nil }
      var parts: [AnyHashable] = []
      return append(range, bytes, mostDepth, to: &parts) ? parts : nil
    }
  }

  private static func append(
    _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ depth: Int,
    to parts: inout [AnyHashable]
  ) -> Bool {
    guard depth > 0, !range.isEmpty else { return false }
    let scanner = JSONScanner(bytes)
    let first = bytes[range.lowerBound]
    parts.append(first)
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard let members = try? scanner.members(at: range.lowerBound) else { return false }
      var values: [(name: [UInt8], value: Range<Int>)] = []
      for member in members {
        guard let name = member.name.map(scanner.text) ?? [] else { return false }
        values.append((name, member.value))
      }
      if first == UInt8(ascii: "{") {
        values.sort { $0.name.lexicographicallyPrecedes($1.name) }
        for (one, next) in zip(values, values.dropFirst()) where one.name == next.name {
          return false
        }
      }
      parts.append(values.count)
      for (name, value) in values {
        parts.append(name)
        guard append(value, bytes, depth - 1, to: &parts) else { return false }
      }
      return true
    case UInt8(ascii: "\""):
      guard let text = scanner.text(in: range) else { return false }
      parts.append(text)
      return true
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return true
    default:
      guard let number = DecimalNumber(bytes[range]) else { return false }
      parts[parts.count - 1] = number
      return true
    }
  }
}
