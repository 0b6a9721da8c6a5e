import FoundationEssentials
import Larder

/// A form of dates as text that ``LarderSQLite/DateFormat`` doesn't have, such as Rails's
/// `2024-05-17 12:30:15.250000`. Generated code contains a coding for each form that it needs.
///
/// A fraction has at most six digits: a Date can't keep more.
struct DateTextForm: Hashable {
  /// The zeros of a fraction.
  enum Zeros: String {
    /// All are written: Rails, SQLAlchemy.
    case kept
    /// A fraction of zero is left out: Python and Django.
    case leftOutTogether
    /// Zeros at the end are left out: Go and .NET.
    case leftOut
  }

  /// A space or `T`.
  let separator: Character
  /// The number of the fraction's digits; the highest if zeros are left out.
  let digits: Int
  let zeros: Zeros
  /// The offset from UTC as it is written, which all texts have in common: `Z`, `+02:00`, or nothing.
  let zone: String
  /// The offset in seconds.
  let offset: Int

  private var scale: Double { (0..<digits).reduce(1) { scale, _ in scale * 10 } }

  /// The text of a date, rounded to the last digit. Throws outside of the years 0 to 9999.
  func text(of date: Date) throws -> String {
    let time = date.timeIntervalSinceReferenceDate
    var second = time.rounded(.down)
    var units = ((time - second) * scale).rounded()
    if units == scale { (second, units) = (second + 1, 0) }
    let local = Date(timeIntervalSinceReferenceDate: second + Double(offset))
    let text = try String(databaseValue: DateFormat.sqlDateTime.databaseValue(of: local))
    // The first digit keeps the zeros after it.
    var fraction = String(Int(scale + units)).dropFirst()
    if zeros == .leftOutTogether, units == 0 { fraction = "" }
    if zeros == .leftOut { while fraction.last == "0" { fraction.removeLast() } }
    return text.replacing(" ", with: String(separator)) + (fraction.isEmpty ? "" : ".\(fraction)")
      + zone
  }

  /// The date of a text; nil for one in another form, which wouldn't be written back as it is.
  func date(of text: String) -> Date? {
    let day = text.utf8.prefix(10)
    let clock = text.utf8.dropFirst(11).prefix(8)
    let fraction = text.utf8.dropFirst(19).dropLast(zone.utf8.count)
    guard
      let second = try? DateFormat.sqlDateTime.date(
        from: .text("\(Substring(day)) \(Substring(clock))")),
      let part = Double("0\(Substring(fraction))")
    else { return nil }
    let date = second.addingTimeInterval(part - Double(offset))
    return (try? self.text(of: date)) == text ? date : nil
  }

  /// Whether the texts sort as their dates do. A `Z` after a shorter fraction comes after all digits.
  private var sorts: Bool {
    zeros == .kept || zone.isEmpty || ["+", "-", " "].contains(zone.first)
  }

  /// The forms that a text may have, the most usual first.
  ///
  /// - Parameter isPython: whether a program in Python wrote it, which leaves out fractions of zero.
  static func forms(of text: String, isPython: Bool) -> [DateTextForm] {
    let bytes = Array(text.utf8)
    guard (19...38).contains(bytes.count), text.utf8.count == text.count,
      let separator = [" ", "T"].first(where: { $0.utf8.first == bytes[10] })
    else { return [] }
    var rest = bytes[19...]
    var digits = 0
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      guard (1...6).contains(digits) else { return [] }
      rest = rest.dropFirst(digits)
    }
    let zone = String(decoding: rest, as: UTF8.self)
    guard let offset = offset(of: zone) else { return [] }
    func form(_ digits: Int, _ zeros: Zeros) -> DateTextForm {
      DateTextForm(
        separator: Character(separator), digits: digits, zeros: zeros, zone: zone, offset: offset)
    }
    let kept = form(digits, .kept)
    let shorter = [form(6, .leftOutTogether), form(6, .leftOut)]
    let leavesOut = isPython || separator == "T" && zone != "Z" || zone == "+00:00"
    let isUsual = [0, 3].contains(digits) || digits == 6 && !leavesOut
    let forms = isUsual ? [kept] + shorter : shorter + [kept]
    return forms.filter { $0.sorts && $0.date(of: text) != nil }
  }

  /// The seconds of an offset such as `+02:00`, `+0200`, `+02`, `Z` or ` UTC`; nil for another text.
  private static func offset(of zone: String) -> Int? {
    let zone = zone.drop { $0 == " " }
    if ["", "Z", "UTC"].contains(zone) { return 0 }
    guard let form = zone.wholeMatch(of: /([+-])([0-9]{2})(?::?([0-9]{2}))?/),
      let hours = Int(form.2), let minutes = Int(form.3 ?? "0"), hours < 24, minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (form.1 == "-" ? -1 : 1)
  }

  // MARK: Generated code

  /// The type that contains the generated codings.
  static let type = "DateTexts"

  /// The coding's name in the generated code, which differs for each form.
  private var name: String {
    let start = separator == "T" ? "iso8601" : "sql"
    let parts = [0: "Seconds", 3: "Milliseconds", 6: "Microseconds"]
    let part = parts[digits] ?? "Fraction\(digits)"
    let ending =
      switch zeros {
      case .kept: ""
      case .leftOutTogether: "OrSeconds"
      case .leftOut: "Shortened"
      }
    let zone = self.zone.map { character in
      switch character {
      case "+": "Plus"
      case "-": "Minus"
      case " ": "Space"
      case ":": "_"
      default: String(character)
      }
    }.joined()
    return start + part + ending + zone
  }

  var coding: String { "\(Self.type).\(name)" }

  /// The form in words, for comments: `YYYY-MM-DD HH:MM:SS.SSSSSS`.
  var pattern: String {
    let fraction = digits == 0 ? "" : "." + String(repeating: "S", count: digits)
    return "YYYY-MM-DD\(separator)HH:MM:SS"
      + (zeros == .kept ? fraction : "[\(fraction)]") + zone
  }

  /// The generated declaration of the coding.
  fileprivate var declaration: String {
    let arguments =
      ["\"\(separator)\"", "digits: \(digits)"]
      + (zeros == .kept ? [] : ["zeros: .\(zeros.rawValue)"])
      + (zone.isEmpty ? [] : ["zone: \(zone.swiftLiteral)"])
      + (offset == 0 ? [] : ["offset: \(offset)"])
    let list = arguments.joined(separator: ", ")
    let line = "  static let \(name) = coding(\(list))"
    let call = line.count <= 96 ? line : "  static let \(name) = coding(\n    \(list))"
    return "  /// `\(pattern)`\n\(call)"
  }

  /// The generated type with the codings of some forms.
  static func source(_ forms: [DateTextForm]) -> String {
    source.replacing("@FORMS@", with: forms.map(\.declaration).joined(separator: "\n"))
  }

  private static let source = """
    /// Dates as other programs write them. A text is only read if it would be written the same way.
    private enum DateTexts {
    @FORMS@

      /// The zeros of a fraction.
      enum Zeros {
        case kept, leftOutTogether, leftOut
      }

      /// The coding of dates with a fraction of some digits, and an offset from UTC in seconds.
      static func coding(
        _ separator: String, digits: Int, zeros: Zeros = .kept, zone: String = "", offset: Double = 0
      ) -> ColumnCoding<Date> {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        @Sendable func text(_ date: Date) throws -> String {
          let time = date.timeIntervalSinceReferenceDate
          var second = time.rounded(.down)
          var units = ((time - second) * scale).rounded()
          if units == scale { (second, units) = (second + 1, 0) }
          let local = Date(timeIntervalSinceReferenceDate: second + offset)
          let text = try String(databaseValue: DateFormat.sqlDateTime.databaseValue(of: local))
          var fraction = String(Int(scale + units)).dropFirst()
          if zeros == .leftOutTogether, units == 0 { fraction = "" }
          if zeros == .leftOut { while fraction.last == "0" { fraction.removeLast() } }
          return text.replacing(" ", with: separator)
            + (fraction.isEmpty ? "" : ".\\(fraction)") + zone
        }
        return ColumnCoding(encode: text) { stored in
          let (day, clock) = (stored.prefix(10), stored.dropFirst(11).prefix(8))
          let second = try DateFormat.sqlDateTime.date(from: .text("\\(day) \\(clock)"))
          let fraction = Double("0\\(stored.dropFirst(19).dropLast(zone.count))")
          let date = second.addingTimeInterval((fraction ?? 0) - offset)
          guard try text(date) == stored else { throw ConversionError(.malformed, Date.self) }
          return date
        }
      }
    }
    """
}
