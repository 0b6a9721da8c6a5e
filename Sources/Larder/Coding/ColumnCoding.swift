import FoundationEssentials

/// How a column stores a property whose type doesn't say how, or says it differently.
///
/// ```swift
/// let founded = Column("founded", \City.founded, as: .iso8601)
/// let tags = Column("tags", \City.tags, as: .json)
/// let color = Column("color", \City.color,
///   as: ColumnCoding(encode: { $0.hexadecimal }, decode: { try Color(hexadecimal: $0) }))
/// ```
///
/// An Optional property stores nil as NULL, and has the coding of the type that it wraps.
///
/// Values get the coding of the column beside them, and are compared and put in order as they are stored.
/// Comparing two columns, or assigning one to the other, needs the same coding on both sides. With two
/// codings, or if an operator or a function would compute with a form that a coding has changed, the
/// statement throws ``LarderSQLite/DatabaseError``.
public struct ColumnCoding<Value: Sendable>: Sendable {
  let bind: @Sendable (Value, ParameterBinder) throws -> Void
  private(set) var read: @Sendable (ColumnReader) throws -> Value
  /// Encodes a value as a connection with this date format stores it.
  @usableFromInline let stored: @Sendable (Value, DateFormat) throws -> DatabaseValue
  let restored: @Sendable (DatabaseValue) throws -> Value
  let columnType: ColumnType
  /// The date format; nil for values that aren't dates.
  private(set) var dateFormat: DateFormat? = nil
  /// The form that distinguishes this coding from another for the same type.
  private(set) var form = StoredForm.own
  private(set) var numbers = NumberTexts.any
  /// Whether the values are dates as text in several forms, which queries compare as numbers.
  private(set) var isDateText = false
}

extension ColumnCoding {
  /// A coding through another type, which knows how it is stored.
  ///
  /// Errors that the closures throw reach the caller who writes or reads the record.
  public init<Stored: DatabaseValueConvertible>(
    encode: @escaping @Sendable (Value) throws -> Stored,
    decode: @escaping @Sendable (Stored) throws -> Value
  ) {
    self.init(
      bind: { try encode($0).bind(to: $1) }, read: { try decode(Stored(column: $0)) },
      stored: { try ColumnCoding<Stored>.plain.stored(encode($0), $1) },
      restored: { try decode(Stored(databaseValue: $0)) }, columnType: Stored.columnType,
      dateFormat: Self.dateFormat { try encode($0).databaseValue },
      form: .through(ObjectIdentifier(Stored.self)))
  }

  /// The date format of the closures, found by storing a date, since they can't tell it.
  private static func dateFormat(_ stored: (Value) throws -> DatabaseValue) -> DateFormat? {
    let day = Date(timeIntervalSince1970: 86_400)
    guard let date = day as? Value else { return nil }
    let value = try? stored(date)
    switch value {
    case .real(86_400), .integer(86_400): return .secondsSince1970
    case .integer(86_400_000), .real(86_400_000): return .unixMilliseconds
    case .real(2_440_588.5): return .julianDay
    default:
      let texts: [DateFormat] = [.sqlDateTime, .sqlDateTimeMilliseconds, .sqlDate, .iso8601Seconds]
      return texts.first { (try? $0.databaseValue(of: day)) == value } ?? .iso8601
    }
  }

  /// The coding, for a form that isn't that of a type by itself.
  func stored(as form: StoredForm) -> ColumnCoding {
    var coding = self
    coding.form = form
    coding.numbers = .none
    return coding
  }

  var optional: ColumnCoding<Value?> {
    ColumnCoding<Value?>(
      bind: { if let value = $0 { try bind(value, $1) } else { try $1.bindNull() } },
      read: { $0.isNull ? nil : try read($0) },
      stored: { value, format in try value.map { try stored($0, format) } ?? .null },
      restored: { $0.isNull ? nil : try restored($0) }, columnType: columnType.optional,
      dateFormat: dateFormat, form: form, numbers: numbers, isDateText: isDateText)
  }

  /// A value of the column's type with the coding; any other as it is.
  func coded(_ value: any DatabaseValueConvertible) -> any DatabaseValueConvertible {
    var known = value as? Value ?? (value as? UncodedValue<Value>)?.value
    if let optional = value as? UncodedValue<Value?> {
      guard let value = optional.value else { return DatabaseValue.null }
      known = value
    }
    return known.map { CodedValue(value: $0, coding: self) } ?? value
  }
}

/// The form in which values are stored, as far as known. Only columns of one form are compared or assigned.
package enum StoredForm: Hashable, Sendable {
  /// The form that the type itself says.
  case own
  case date(DateFormat)
  case json
  /// An array of values of a kind: in JSON, or as an array of an engine that has them.
  case array(ColumnType.Kind)
  /// A range of values of a kind: in JSON, or as a range of an engine that has them.
  case range(ColumnType.Kind)
  /// UUIDs as text in small letters.
  case lowercase
  /// Dates as text in several forms, of which one is written.
  case dateText(DateFormat)
  /// Stored by two closures, as values of this type.
  case through(ObjectIdentifier)

  /// Whether SQLite's text is JSON.
  var isJSON: Bool {
    switch self {
    case .json, .array, .range: true
    default: false
    }
  }
}

/// A value with the coding that it is stored by.
struct CodedValue<Value: Sendable> {
  let value: Value
  let coding: ColumnCoding<Value>
}

extension CodedValue: DateFormatted {
  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Value.self) }

  var databaseValue: DatabaseValue { get throws { try databaseValue(in: .secondsSince1970) } }

  func databaseValue(in format: DateFormat) throws -> DatabaseValue {
    try coding.stored(value, format)
  }

  func bind(to parameter: ParameterBinder) throws { try coding.bind(value, parameter) }
}

/// A value that needs a coding: the content of ``SQLExpression/value(_:)-(Value)`` until it meets its column.
struct UncodedValue<Value: Sendable>: DatabaseValueConvertible {
  let value: Value

  init(_ value: Value) { self.value = value }

  var databaseValue: DatabaseValue { get throws { throw ConversionError(.malformed, Value.self) } }

  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Value.self) }
}

extension ColumnCoding where Value: DatabaseValueConvertible {
  /// The coding by which the type stores itself.
  @usableFromInline static var plain: ColumnCoding {
    ColumnCoding(
      bind: { try $0.bind(to: $1) }, read: { try Value(written: $0) },
      stored: { value, format in
        if let date = value as? Date { return try format.databaseValue(of: date) }
        return try value.databaseValue
      }, restored: { try Value(databaseValue: $0) }, columnType: Value.columnType)
  }
}

extension ColumnCoding where Value == Date {
  /// A format of this column's own, whatever the connection's is, for instance
  /// ``LarderSQLite/DateFormat/sqlDate``. A stored value in another format throws
  /// ``LarderSQLite/ConversionError``, which names that format.
  public static func format(_ format: DateFormat) -> ColumnCoding {
    ColumnCoding(
      bind: { try format.databaseValue(of: $0).bind(to: $1) },
      read: { try format.date(from: DatabaseValue(column: $0)) },
      stored: { date, _ in try format.databaseValue(of: date) },
      restored: { try format.date(from: $0) }, columnType: format.columnType, dateFormat: format,
      form: .date(format), numbers: .none)
  }

  /// Text in any form of ISO 8601 and SQL, for columns into which programs wrote different ones: with or
  /// without a time, `T` or a space, seconds, a fraction, and an offset (`Z`, `+02`, `+02:00`, ` UTC`; UTC if
  /// there is none), days by month, week (`2016-W28-6`) or number (`2016-198`), with hyphens and colons or
  /// without.
  ///
  /// ```swift
  /// let taken = Column("taken", \Photo.taken, as: .text(writing: .sqlDateTime))
  /// // WHERE larder_date("photo"."taken") >= ?
  /// ```
  ///
  /// Queries compare, order, group and join such a column by the moment, to the millisecond, and read dates
  /// with more digits rounded to it. A text that is no date is an error. SQLite uses no index for this: to
  /// convert the column, write all records anew (`for var photo in photos { try photo.update(db) }`), and
  /// declare the column ``format(_:)``. A key, `DISTINCT` of records, and SQL of your own see the texts.
  /// On PostgreSQL such a column is read and written, but a query that compares it throws
  /// ``LarderSQLite/UnsupportedByEngine``: a `timestamptz` column does all of this there.
  ///
  /// - `format`: the form in which dates are written, one of those that are text.
  public static func text(writing format: DateFormat = .iso8601) -> ColumnCoding {
    let format = format.columnType == .text ? format : .iso8601
    return ColumnCoding(
      bind: { try format.databaseValue(of: $0).bind(to: $1) },
      read: { try date(DatabaseValue(column: $0)) },
      stored: { date, _ in try format.databaseValue(of: date) }, restored: { try date($0) },
      columnType: .text, dateFormat: format, form: .dateText(format), numbers: .none,
      isDateText: true)
  }

  private static func date(_ value: DatabaseValue) throws -> Date {
    guard case .text(let text) = value else { throw value.unexpected(for: Date.self) }
    guard let date = ParsedDate.date(text) else { throw ConversionError(.malformed, Date.self) }
    return date
  }

  /// Text such as `2026-11-21T08:33:26.123Z`; dates are rounded to milliseconds.
  public static var iso8601: ColumnCoding { .format(.iso8601) }
  /// An integer number of milliseconds since 1970, to which dates are rounded.
  public static var unixMilliseconds: ColumnCoding { .format(.unixMilliseconds) }
}

extension ColumnCoding where Value == UUID {
  /// Text such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`. Reading small letters throws.
  public static var text: ColumnCoding { text(other: ".lowercaseText") { $0.uuidString } }

  /// Text such as `e621e1f8-c36c-495a-93fc-0c247a3e6e5f`. Reading capital letters throws.
  public static var lowercaseText: ColumnCoding {
    var coding = text(other: ".text") { $0.uuidString.lowercased() }
    coding.form = .lowercase
    return coding
  }

  /// - Parameter other: the name of the coding that stores other texts.
  private static func text(
    other: String, _ encode: @escaping @Sendable (UUID) -> String
  ) -> ColumnCoding {
    var coding = ColumnCoding(
      encode: encode,
      decode: { (text: String) in
        let id = try UUID(databaseValue: .text(text))
        guard encode(id) == text else { throw ConversionError(.otherCoding(other), UUID.self) }
        return id
      })
    coding.numbers = .none
    return coding
  }

  /// A blob of 16 bytes.
  public static var blob: ColumnCoding {
    var coding = ColumnCoding(
      encode: { (id: UUID) -> [UInt8] in withUnsafeBytes(of: id.uuid) { [UInt8]($0) } },
      decode: { bytes in try UUID(databaseValue: .blob(bytes)) })
    coding.form = .own
    return coding
  }
}

/// Which of a column's texts look like numbers, to which other programs' tables would convert them.
enum NumberTexts: Sendable {
  /// None, as for dates, UUIDs, and arrays in JSON.
  case none
  /// Hardly any: a type that is written as JSON may write a single number.
  case few
  /// Any text may.
  case any
}

/// A type whose JSON is never a number.
private protocol NeverNumberInJSON {}

extension Array: NeverNumberInJSON {}
extension Dictionary: NeverNumberInJSON {}
extension Set: NeverNumberInJSON {}
extension String: NeverNumberInJSON {}
extension Bool: NeverNumberInJSON {}

/// Whether the raw values of a type are numbers.
private func hasNumber(_ type: Any.Type) -> Bool {
  func isNumber<T: RawRepresentable>(_ type: T.Type) -> Bool { T.RawValue.self is any Numeric.Type }
  return (type as? any RawRepresentable.Type).map { isNumber($0) } ?? false
}

extension ColumnCoding {
  // The compiler finds this one for all other types. Without it, its message doesn't say what is wrong.
  /// Not available: only Codable types have JSON.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "only a property with a Codable type can be stored as JSON")
  public static var json: ColumnCoding {
    ColumnCoding(
      encode: { _ in "" }, decode: { (_: String) in throw ConversionError(.malformed, Value.self) })
  }
}

extension ColumnCoding where Value: Codable {
  /// JSON, with the keys of objects sorted; a `Date` in it is text such as `2026-11-21T08:33:26.123Z`. It is
  /// text in SQLite, and `JSONB` on PostgreSQL.
  public static var json: ColumnCoding { json(JSONText.encoder, JSONText.decoder) }

  /// JSON by a coder of the program's own, as for dates that others have written:
  ///
  /// ```swift
  /// let decoder = JSONDecoder()
  /// decoder.dateDecodingStrategy = .secondsSince1970
  /// let payload = Column("payload", \Job.payload, as: .json(encoder: encoder, decoder: decoder))
  /// ```
  ///
  /// Queries that read or compare a part of the JSON use Larder's own coder. The coders aren't changed once they
  /// are in use.
  ///
  /// - Parameters:
  ///   - encoder: what writes the values. It should sort the keys (`sortedKeys`), so that equal values have one
  ///     text.
  ///   - decoder: what reads them.
  public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> ColumnCoding {
    json(encoder, decoder)
  }

  private static func json(_ encoder: JSONEncoder, _ decoder: JSONDecoder) -> ColumnCoding {
    var coding = ColumnCoding(
      encode: { try JSONText.text(of: $0, encoder) },
      decode: { (text: String) in try JSONText.value(Value.self, of: text, decoder) })
    coding.read = { try JSONText.value(Value.self, in: $0, decoder) }
    coding.form = .json
    if Value.self is any NeverNumberInJSON.Type {
      coding.numbers = .none
    } else if !(Value.self is any Numeric.Type), !hasNumber(Value.self) {
      // Only its own `encode(to:)` knows whether a value is written as a number.
      coding.numbers = .few
    }
    return coding
  }
}

extension ColumnCoding
where Value: Codable & RangeReplaceableCollection, Value.Element: DatabaseValueConvertible {
  /// An array: in SQLite its JSON, as ``json`` writes it, and on PostgreSQL an
  /// [array](https://www.postgresql.org/docs/current/arrays.html) of the element's type, such as `TEXT[]`.
  ///
  /// The column of a server may also be an array of another type whose values the element can be: `citext[]`,
  /// an enumeration's. Its indexes begin with 1 once it was written. Elements may be Optional.
  public static var array: ColumnCoding { .array(of: Value.Element.columnType.kind) }
}

extension ColumnCoding
where
  Value: Codable & RangeReplaceableCollection,
  Value.Element: Codable & RangeReplaceableCollection,
  Value.Element.Element: DatabaseValueConvertible
{
  /// An array of arrays, which all have the same length: on PostgreSQL an array of two dimensions.
  @_disfavoredOverload  // or an array of Data would be one of two dimensions
  public static var array: ColumnCoding { .array(of: Value.Element.Element.columnType.kind) }
}

extension ColumnCoding where Value: Codable & RangeReplaceableCollection, Value.Element: Codable {
  /// An array of values that are JSON: on PostgreSQL `JSONB[]`, or an array of a composite type whose members
  /// are those of the JSON.
  @_disfavoredOverload  // or an array of texts would be one of JSON
  public static var array: ColumnCoding { .array(of: .any) }
}

extension ColumnCoding {
  // The compiler finds this one for all other types. Without it, its message doesn't say what is wrong.
  /// Not available: only arrays of values are stored as arrays.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "only a property with an array of Codable values is stored as an array"
  )
  public static var array: ColumnCoding {
    ColumnCoding(
      encode: { _ in "" }, decode: { (_: String) in throw ConversionError(.malformed, Value.self) })
  }
}

extension ColumnCoding where Value: Codable {
  fileprivate static func array(of kind: ColumnType.Kind) -> ColumnCoding {
    json.stored(as: .array(kind))
  }
}
