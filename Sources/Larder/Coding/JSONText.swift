import FoundationEssentials
import LarderSQLite

/// JSON as columns hold it: the keys of objects are sorted, and a `Date` is text such as
/// `2026-11-21T08:33:26.123Z`. (Foundation's own ISO 8601 drops fractions of a second.) Dates in JSON aren't
/// compared with anything, so they are read with or without a fraction, an offset or a time.
enum JSONText {
  // Made once: making them takes a quarter of the time of coding a small value.
  static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      try String(databaseValue: DateFormat.iso8601.databaseValue(of: date)).encode(to: encoder)
    }
    return encoder
  }()
  static let decoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      do {
        return Date(timeIntervalSince1970: try CivilTime.secondsSince1970(String(from: decoder)))
      } catch is ConversionError {
        throw DecodingError.typeMismatch(
          Date.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: ""))
      }
    }
    return decoder
  }()

  /// A value as JSON. Throws `ConversionError` where it has none.
  static func text<Value: Encodable>(
    of value: Value, _ encoder: JSONEncoder = encoder
  ) throws -> String {
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch EncodingError.invalidValue(let value, let context) {
      let isNumber = value is any BinaryFloatingPoint
      throw ConversionError(
        .notExact, Value.self,
        part: place(context.codingPath)
          + (isNumber ? " is a number that JSON can't represent" : " can't be written as JSON"))
    }
  }

  /// The value of a column that holds JSON as text. Throws what reading text does, and `ConversionError` where it isn't
  /// JSON, or of another type.
  static func value<Value: Decodable>(
    _ type: Value.Type, in column: ColumnReader, _ decoder: JSONDecoder
  ) throws -> Value {
    if decoder === Self.decoder, column.storageClass == .text {
      do {
        return try column.withUnsafeBytes { try JSONValueReader.value(type, of: $0) }
      } catch {
        // Making the String tells whether the text is UTF-8, and Foundation's decoder what else is wrong, if anything is.
        return try decoded(type, String(column: column), decoder)
      }
    }
    return try value(type, of: String(column: column), decoder)
  }

  /// The value of a text. Throws `ConversionError` where it isn't JSON, or of another type.
  static func value<Value: Decodable>(
    _ type: Value.Type, of text: String, _ decoder: JSONDecoder = decoder
  ) throws -> Value {
    if decoder === Self.decoder {
      do {
        return try JSONValueReader.value(type, of: text)
      } catch {
        // Foundation's decoder describes what is wrong, if anything is.
      }
    }
    return try decoded(type, text, decoder)
  }

  private static func decoded<Value: Decodable>(
    _ type: Value.Type, _ text: String, _ decoder: JSONDecoder
  ) throws -> Value {
    do {
      return try decoder.decode(Value.self, from: Data(text.utf8))
    } catch {
      throw ConversionError(.malformed, Value.self, part: (error as? DecodingError).map(part))
    }
  }

  /// The description of an error: what is wrong and where, without the value.
  private static func part(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context): "\(place(context.codingPath)) isn't of type \(type)"
    case .valueNotFound(let type, let context):
      "\(place(context.codingPath)) is null, not of type \(type)"
    case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
    case .dataCorrupted(let context) where context.codingPath.isEmpty:
      "the text isn't JSON, isn't of the type, or is nested more than 512 levels deep"
    case .dataCorrupted(let context): "\(place(context.codingPath)) isn't valid for its type"
    @unknown default: "it can't be decoded"
    }
  }

  /// A path as Swift would write it: `lines[0].sku`.
  private static func place(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "the top-level value" }
    var text = ""
    for key in path.prefix(20) {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += (text.isEmpty ? "" : ".") + key.stringValue.prefix(60)
      }
    }
    return "`\(text)\(path.count > 20 ? "…" : "")`"
  }
}
