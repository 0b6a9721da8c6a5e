import Foundation
import Larder

// The types, and the ways in which they are stored.

enum Flags: TypeSubject {
  static let name = "Bool"
  static func sample(_ sampler: inout Sampler) -> Bool { sampler.chance(2) }
  static func precedes(_ left: Bool, _ right: Bool) -> Bool { !left && right }
  static func checkMore(_ check: inout TypeCheck<Self>) {
    check.filter("condition", { $0.a && !$0.b }, { $0.a && !$0.b })
    check.filter("or", { $0.a || $0.b }, { $0.a || $0.b })
  }
}

enum Integers<Value: SignedInteger & FixedWidthInteger & BinaryNumberValue & Sendable>: TypeSubject
where Value.Number == Value, Value.AsOptional == Value? {
  static var name: String { "\(Value.self)" }
  static func sample(_ sampler: inout Sampler) -> Value { sampler.storable() }
  static func precedes(_ left: Value, _ right: Value) -> Bool { left < right }
  static func checkMore(_ check: inout TypeCheck<Self>) { check.checkSignedIntegers() }
}

enum Naturals<Value: UnsignedInteger & FixedWidthInteger & BinaryNumberValue & Sendable>:
  TypeSubject
where Value.Number == Value, Value.AsOptional == Value? {
  static var name: String { "\(Value.self)" }
  static func sample(_ sampler: inout Sampler) -> Value { sampler.storable() }
  static func precedes(_ left: Value, _ right: Value) -> Bool { left < right }
  static func checkMore(_ check: inout TypeCheck<Self>) { check.checkIntegers() }
}

enum Doubles: TypeSubject {
  static let name = "Double"
  static func sample(_ sampler: inout Sampler) -> Double { sampler.double() }
  static func precedes(_ left: Double, _ right: Double) -> Bool { left < right }
  static func checkMore(_ check: inout TypeCheck<Self>) { check.checkReals() }
}

enum Floats: TypeSubject {
  static let name = "Float"
  static func sample(_ sampler: inout Sampler) -> Float {
    sampler.chance(2) ? sampler.float() : Float(sampler.integer(Int16.self)) / 100
  }
  static func precedes(_ left: Float, _ right: Float) -> Bool { left < right }
  static func checkMore(_ check: inout TypeCheck<Self>) { check.checkReals() }
}

/// Texts, which are compared byte by byte.
enum Texts: TypeSubject {
  static let name = "String"
  static func sample(_ sampler: inout Sampler) -> String {
    sampler.chance(4) ? sampler.pick("é", ["e\u{301}", "E", "e", "", "É"]) : sampler.text()
  }
  static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
  static func checkMore(_ check: inout TypeCheck<Self>) {
    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    let part = String(check.pivots[0].unicodeScalars.prefix(2))
    check.filter("contains", { $0.a.contains(part) }, { bytes($0.a).contains(bytes(part)) })
    check.filter("hasPrefix", { $0.a.hasPrefix(part) }, { bytes($0.a).starts(with: bytes(part)) })
    check.filter(
      "hasSuffix", { $0.a.hasSuffix(part) },
      { bytes($0.a).reversed().starts(with: bytes(part).reversed()) })
    check.select("+", { $0.a + $0.b }, { .value($0.a + $0.b) })
    check.filter(
      "+ in a comparison", { $0.a + part == $0.b + part }, { bytes($0.a) == bytes($0.b) })
    check.filter(
      "lowercased", { $0.a.lowercased == $0.b.lowercased },
      { Self.lowered($0.a) == Self.lowered($0.b) },
      // SQLite takes a NUL for the end.
      unless: { ($0.a + $0.b).utf8.contains(0) })
    check.assign("+=", { $0.a += part }, { .value($0.a + part) })
  }

  private static func lowered(_ text: String) -> [UInt8] {
    text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}

enum Bytes: TypeSubject {
  static let name = "[UInt8]"
  static func sample(_ sampler: inout Sampler) -> [UInt8] { Array(sampler.bytes().prefix(3)) }
  static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.lexicographicallyPrecedes(right)
  }
}

enum Datas: TypeSubject {
  static let name = "Data"
  static func sample(_ sampler: inout Sampler) -> Data { Data(sampler.bytes()) }
  static func precedes(_ left: Data, _ right: Data) -> Bool {
    left.lexicographicallyPrecedes(right)
  }
}

enum URLs: TypeSubject {
  static let name = "URL"
  static func sample(_ sampler: inout Sampler) -> URL { sampler.url() }
  static func precedes(_ left: URL, _ right: URL) -> Bool {
    left.absoluteString.utf8.lexicographicallyPrecedes(right.absoluteString.utf8)
  }
}

enum Identities: TypeSubject {
  static let name = "UUID"
  static func sample(_ sampler: inout Sampler) -> UUID { sampler.uuid() }
  static func precedes(_ left: UUID, _ right: UUID) -> Bool { left.uuidString < right.uuidString }
}

enum IdentityTexts: TypeSubject {
  static let name = "UUID as text"
  static var coding: ColumnCoding<UUID>? { .text }
  static func sample(_ sampler: inout Sampler) -> UUID { sampler.uuid() }
  static func precedes(_ left: UUID, _ right: UUID) -> Bool { left.uuidString < right.uuidString }
}

enum LowercaseIdentityTexts: TypeSubject {
  static let name = "UUID as text in small letters"
  static var coding: ColumnCoding<UUID>? { .lowercaseText }
  static func sample(_ sampler: inout Sampler) -> UUID { sampler.uuid() }
  static func precedes(_ left: UUID, _ right: UUID) -> Bool { left.uuidString < right.uuidString }
}

/// Decimals of few digits, with which Foundation computes exactly.
enum ShortDecimals: TypeSubject {
  static let name = "Decimal"
  static func sample(_ sampler: inout Sampler) -> Decimal {
    let digits = sampler.integer(Int64.self) / (sampler.chance(2) ? 1 << 20 : 1 << 50)
    return Decimal(
      sign: .plus, exponent: sampler.pick(-2, [-6, 0, -3]), significand: Decimal(digits))
  }
  static func precedes(_ left: Decimal, _ right: Decimal) -> Bool { left < right }
  static func checkMore(_ check: inout TypeCheck<Self>) { check.checkDecimals() }
}

enum LongDecimals: TypeSubject {
  static let name = "Decimal of 38 digits"
  static func sample(_ sampler: inout Sampler) -> Decimal { sampler.decimal() }
  static func precedes(_ left: Decimal, _ right: Decimal) -> Bool { left < right }
}

struct Price: RawRepresentable, DatabaseValueConvertible, Hashable { var rawValue: Decimal }

enum Prices: TypeSubject {
  static let name = "raw Decimal"
  static func sample(_ sampler: inout Sampler) -> Price { Price(rawValue: sampler.decimal()) }
  static func precedes(_ left: Price, _ right: Price) -> Bool { left.rawValue < right.rawValue }
}

/// Raw values are what is compared.
enum Sizes: TypeSubject {
  static let name = "raw Int"
  static func sample(_ sampler: inout Sampler) -> Specimen.Size { sampler.pick(.small, [.large]) }
  static func precedes(_ left: Specimen.Size, _ right: Specimen.Size) -> Bool {
    left.rawValue < right.rawValue
  }
}

enum Kinds: TypeSubject {
  static let name = "raw String"
  static func sample(_ sampler: inout Sampler) -> Specimen.Kind { sampler.pick(.town, [.none]) }
  static func precedes(_ left: Specimen.Kind, _ right: Specimen.Kind) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A coding of one's own: as it is stored, as text, is how it is compared.
enum TextIntegers: TypeSubject {
  static let name = "Int coded as text"
  static var coding: ColumnCoding<Int>? {
    ColumnCoding(
      encode: { String($0) },
      decode: { (text: String) in
        guard let value = Int(text) else { throw ConversionError(.malformed, Int.self) }
        return value
      })
  }
  static func sample(_ sampler: inout Sampler) -> Int { Int(sampler.integer(Int8.self)) }
  static func precedes(_ left: Int, _ right: Int) -> Bool { "\(left)" < "\(right)" }
  static func checkMore(_ check: inout TypeCheck<Self>) {
    check.select("+", { $0.a + 1 }, { _ in .error })
    check.aggregate("sum", { $0.a.sum() }, .error)
    check.aggregate("average", { $0.a.average() }, .error)
    check.assign("+=", { $0.a += 1 }, { _ in .error })
  }
}

protocol DateSubject: TypeSubject where Value == Date {
  static var format: DateFormat { get }
}

extension DateSubject {
  /// One that the format holds exactly.
  static func sample(_ sampler: inout Sampler) -> Date {
    let date = sampler.date()
    let near = Date(timeIntervalSince1970: Double(sampler.integer(Int16.self)) * 3600.25)
    let chosen = sampler.chance(2) ? date : near
    return (try? format.date(from: format.databaseValue(of: chosen))) ?? chosen
  }

  static func precedes(_ left: Date, _ right: Date) -> Bool { left < right }

  static func checkMore(_ check: inout TypeCheck<Self>) {
    check.checkRanges()
    check.select(
      "strftime", { $0.a.strftime("%Y-%m-%d %H:%M:%S") },
      { row in
        guard format == .julianDay else { return .value(Self.text(row.a)) }
        // SQLite rounds Julian days to milliseconds, from another number than Swift.
        return .either(Self.text(row.a), Self.text(row.a + 0.0006))
      })
    check.filter(
      "parts", { $0.a.second < 30 && $0.a.minute % 2 == 0 },
      { row in
        let seconds = Int(row.a.timeIntervalSinceReferenceDate.rounded(.down)) + 978_307_200
        return (seconds % 60 + 60) % 60 < 30 && (seconds % 3600 + 3600) % 3600 / 60 % 2 == 0
      }, unless: { _ in format == .julianDay })
  }

  private static func text(_ date: Date) -> String {
    var time = time_t(date.timeIntervalSinceReferenceDate.rounded(.down)) + 978_307_200
    var parts = tm()
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, 64, "%Y-%m-%d %H:%M:%S", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

// Columns with a format of their own, and those with the connection's.

enum SecondDates: DateSubject {
  static let name = "Date as secondsSince1970"
  static let format = DateFormat.secondsSince1970
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum MillisecondDates: DateSubject {
  static let name = "Date as unixMilliseconds"
  static let format = DateFormat.unixMilliseconds
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum JulianDates: DateSubject {
  static let name = "Date as julianDay"
  static let format = DateFormat.julianDay
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum ISODates: DateSubject {
  static let name = "Date as iso8601"
  static let format = DateFormat.iso8601
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum SQLDates: DateSubject {
  static let name = "Date as sqlDateTime"
  static let format = DateFormat.sqlDateTime
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum FractionDates: DateSubject {
  static let name = "Date as sqlDateTimeMilliseconds"
  static let format = DateFormat.sqlDateTimeMilliseconds
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum Days: DateSubject {
  static let name = "Date as sqlDate"
  static let format = DateFormat.sqlDate
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum ISOSecondDates: DateSubject {
  static let name = "Date as iso8601Seconds"
  static let format = DateFormat.iso8601Seconds
  static var coding: ColumnCoding<Date>? { .format(format) }
}

enum PlainSecondDates: DateSubject {
  static let name = "Date of a connection with secondsSince1970"
  static let format = DateFormat.secondsSince1970
  static let dateFormat = format
}

enum PlainMillisecondDates: DateSubject {
  static let name = "Date of a connection with unixMilliseconds"
  static let format = DateFormat.unixMilliseconds
  static let dateFormat = format
}

enum PlainJulianDates: DateSubject {
  static let name = "Date of a connection with julianDay"
  static let format = DateFormat.julianDay
  static let dateFormat = format
}

enum PlainISODates: DateSubject {
  static let name = "Date of a connection with iso8601"
  static let format = DateFormat.iso8601
  static let dateFormat = format
}

enum PlainSQLDates: DateSubject {
  static let name = "Date of a connection with sqlDateTime"
  static let format = DateFormat.sqlDateTime
  static let dateFormat = format
}

enum PlainFractionDates: DateSubject {
  static let name = "Date of a connection with sqlDateTimeMilliseconds"
  static let format = DateFormat.sqlDateTimeMilliseconds
  static let dateFormat = format
}

enum PlainDays: DateSubject {
  static let name = "Date of a connection with sqlDate"
  static let format = DateFormat.sqlDate
  static let dateFormat = format
}

enum PlainISOSecondDates: DateSubject {
  static let name = "Date of a connection with iso8601Seconds"
  static let format = DateFormat.iso8601Seconds
  static let dateFormat = format
}
