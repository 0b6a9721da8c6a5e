import FoundationEssentials
import Larder

/// The codings of dates as text that fit all texts.
struct DateForms {
  /// The formats that Larder has, and that all texts have; more than one only if there is no value.
  private var formats: [DateFormat] = [
    .sqlDate, .sqlDateTime, .sqlDateTimeMilliseconds, .iso8601, .iso8601Seconds,
  ]
  /// The other forms that all texts have; nil before the first text.
  private var otherForms: [DateTextForm]?
  /// The offsets from UTC that were seen, as text.
  private var zones: Set<String> = []
  private var mostDigits = 0
  /// Whether all texts begin with a day, whatever follows.
  private(set) var areDays = true
  /// Whether a program in Python wrote the values, which leaves out fractions of zero.
  var isPython = false

  mutating func add(_ value: DatabaseValue) {
    guard areDays else { return }
    guard case .text(let text) = value, text.beginsWithDay else {
      return (areDays, formats, otherForms) = (false, [], [])
    }
    noteParts(of: text)
    formats.removeAll { format in
      guard text.utf8.count <= 24, let date = try? format.date(from: value) else { return true }
      // Another spelling of the same date would be changed when it is written back.
      return (try? format.databaseValue(of: date)) != value
    }
    if otherForms == nil {
      otherForms = DateTextForm.forms(of: text, isPython: isPython)
    } else {
      otherForms?.removeAll { $0.date(of: text) == nil }
    }
  }

  private mutating func noteParts(of text: String) {
    let rest = text.utf8.dropFirst(19)
    let isFraction = rest.first == UInt8(ascii: ".")
    let digits = isFraction ? rest.dropFirst().prefix { $0.decimalDigit != nil }.count : 0
    mostDigits = max(mostDigits, digits)
    // Text that is no date may have any ending.
    let zone = rest.dropFirst(isFraction ? digits + 1 : 0)
    if zones.count < 3 { zones.insert(String(decoding: zone, as: UTF8.self)) }
  }

  var format: DateFormat? { formats.first }

  /// The storage that reads and writes all texts exactly; nil if none does.
  var storage: PropertyStorage? { storages.first }

  /// All storages that read and write all texts exactly, the most usual first.
  private var storages: [PropertyStorage] {
    formats.map(PropertyStorage.date) + (otherForms ?? []).map(PropertyStorage.date)
  }

  func fit(_ storage: PropertyStorage) -> Bool { storages.contains(storage) }

  /// The form of the texts for comments, such as `YYYY-MM-DD`.
  var pattern: String { format?.pattern ?? otherForms?.first?.pattern ?? "" }

  /// The reason why dates stay texts, as a sentence.
  var reasonAgainstDates: String {
    if mostDigits > 6 {
      return
        "Its texts are dates with \(mostDigits) digits of a second, and a Date keeps 6 exactly: kept as text."
    }
    if zones.count > 1, zones.contains(where: { $0.first == "+" || $0.first == "-" }) {
      return
        "Its texts are dates with several offsets from UTC, which a Date doesn't keep: kept as text."
    }
    return "Its texts are dates, but not all in one form that a Date keeps exactly: kept as text."
  }
}

extension String {
  fileprivate var beginsWithDay: Bool {
    guard utf8.count >= 10 else { return false }
    let day = String(decoding: utf8.prefix(10), as: UTF8.self)
    return (try? DateFormat.sqlDate.date(from: .text(day))) != nil
  }
}

extension DateFormat {
  fileprivate var pattern: String {
    switch self {
    case .sqlDate: "YYYY-MM-DD"
    case .sqlDateTime: "YYYY-MM-DD HH:MM:SS"
    case .sqlDateTimeMilliseconds: "YYYY-MM-DD HH:MM:SS.SSS"
    case .iso8601: "YYYY-MM-DDTHH:MM:SS.SSSZ"
    case .iso8601Seconds: "YYYY-MM-DDTHH:MM:SSZ"
    case .secondsSince1970, .unixMilliseconds, .julianDay: ""
    }
  }
}
