import CLibPQ
import LarderSQLite

/// The object ids of PostgreSQL's own types, which are the same on every server.
///
/// See [pg_type.dat](https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat).
enum TypeOID {
  static let bool: Oid = 16, bytea: Oid = 17, char: Oid = 18, name: Oid = 19
  static let int8: Oid = 20, int2: Oid = 21, int4: Oid = 23, oid: Oid = 26
  static let text: Oid = 25, bpchar: Oid = 1042, varchar: Oid = 1043, unknown: Oid = 705
  static let float4: Oid = 700, float8: Oid = 701, numeric: Oid = 1700
  static let void: Oid = 2278
  static let json: Oid = 114, jsonb: Oid = 3802, xml: Oid = 142, uuid: Oid = 2950
  static let date: Oid = 1082, timestamp: Oid = 1114, timestamptz: Oid = 1184

  /// Whether the binary format of a type is its text.
  static func isText(_ type: Oid) -> Bool {
    switch type {
    case text, varchar, bpchar, name, unknown, json, xml, char, void: true
    default: false
    }
  }

  /// Whether the binary format of a type is known here.
  static func canBeRead(_ type: Oid) -> Bool {
    switch type {
    case int8, int4, int2, oid, bool, float8, float4, timestamp, timestamptz, date, bytea, uuid,
      numeric, jsonb:
      true
    default: isText(type)
    }
  }

  /// Whether a type silently loses details of values that other types keep.
  static func losesDetail(_ type: Oid) -> Bool {
    type == float4 || type == timestamp || type == date || type == bpchar
  }

  /// Whether a value can be written in binary, as COPY needs it.
  static func canBeCopied(_ type: Oid) -> Bool {
    canBeRead(type) && type != date && type != oid && type != char
  }
}
