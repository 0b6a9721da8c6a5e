import FoundationEssentials
import LarderSQLite

/// JSON as columns hold it: the keys of objects sorted, a `Date` as text such as
/// `2026-11-21T08:33:26.123Z`, where Foundation's own ISO 8601 drops what is less than a second. Dates
/// in JSON are compared with nothing: with or without a fraction, an offset or a time, they are read.
enum JSONText {
  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      try String(databaseValue: DateFormat.iso8601.databaseValue(of: date)).encode(to: encoder)
    }
    return encoder
  }

  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      Date(timeIntervalSince1970: try CivilTime.secondsSince1970(String(from: decoder)))
    }
    return decoder
  }
}
