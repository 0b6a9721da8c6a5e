import FoundationEssentials
import LarderSQLite

/// JSON as columns hold it: the keys of objects sorted, a `Date` as text such as
/// `2026-11-21T08:33:26.123Z`, where Foundation's own ISO 8601 drops what is less than a second. Dates
/// in JSON are compared with nothing: with or without a fraction, an offset or a time, they are read.
enum JSONText {
  // Made once, as making them takes a quarter of the time of a small value.
  private static let encoder = makeEncoder()
  private static let decoder = makeDecoder()

  /// A value as JSON. Throws `ConversionError` where it has none.
  static func text<Value: Encodable>(of value: Value) throws -> String {
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch is EncodingError {
      throw ConversionError(.notExact, Value.self)
    }
  }

  /// The value of a text. Throws `ConversionError` where it isn't JSON, or of another type.
  static func value<Value: Decodable>(_ type: Value.Type, of text: String) throws -> Value {
    do {
      return try decoder.decode(Value.self, from: Data(text.utf8))
    } catch {
      throw ConversionError(.malformed, Value.self)
    }
  }

  private static func makeEncoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      try String(databaseValue: DateFormat.iso8601.databaseValue(of: date)).encode(to: encoder)
    }
    return encoder
  }

  private static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      Date(timeIntervalSince1970: try CivilTime.secondsSince1970(String(from: decoder)))
    }
    return decoder
  }
}
