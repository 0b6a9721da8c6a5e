import CLibPQ

/// A type of the server, by how its values are sent in binary.
///
/// Types that SQLite has no counterpart of are read as text: arrays and composite values as JSON, all others
/// in the form in which the server itself writes them.
///
/// See [Data Types](https://www.postgresql.org/docs/current/datatype.html).
indirect enum ServerType: Sendable {
  /// A type that ``EngineValue`` reads by its number.
  case plain(Oid)
  /// A type whose binary form is its text: an enumeration, `citext`.
  case text
  case time, timeWithZone, interval
  /// `inet` and `cidr`.
  case network
  /// `macaddr` and `macaddr8`.
  case hardwareAddress
  case money
  /// `bit` and `varbit`.
  case bits
  case logPosition
  case array(ServerType)
  case range(ServerType)
  case multirange(ServerType)
  case composite([(name: String, type: ServerType)])
  /// The extension hstore's pairs of texts.
  case pairs

  /// The number of the plain type; nil for any other.
  var plainType: Oid? { if case .plain(let type) = self { type } else { nil } }

  /// Whether JSON is written to the type in the server's own syntax.
  var isWrittenFromJSON: Bool {
    switch self {
    case .array, .range, .composite, .pairs: true
    default: false
    }
  }

  /// The server's own types, which have the same numbers everywhere; nil for others.
  init?(builtIn type: Oid) {
    if TypeOID.canBeRead(type) {
      self = .plain(type)
    } else if let simple = Self.simple[type] {
      self = simple
    } else if let element = Self.elements[type], let element = ServerType(builtIn: element) {
      self = .array(element)
    } else if let bound = Self.bounds[type], let bound = ServerType(builtIn: bound) {
      self = .range(bound)
    } else if let bound = Self.multirangeBounds[type], let bound = ServerType(builtIn: bound) {
      self = .multirange(bound)
    } else {
      return nil
    }
  }

  /// A type by the name of the function that sends it, which types of extensions and domains share with
  /// their base; nil for one that isn't known here.
  init?(sender: String) {
    switch sender {
    case "enum_send", "citextsend", "textsend": self = .text
    case "hstore_send": self = .pairs
    default: return nil
    }
  }

  private static let simple: [Oid: ServerType] = [
    1083: .time, 1266: .timeWithZone, 1186: .interval, 869: .network, 650: .network,
    829: .hardwareAddress, 774: .hardwareAddress, 790: .money, 1560: .bits, 1562: .bits,
    3220: .logPosition,
  ]

  /// The element types of the server's own arrays. `int2vector` and `oidvector` are sent as arrays are.
  private static let elements: [Oid: Oid] = [
    22: TypeOID.int2, 30: TypeOID.oid, 143: TypeOID.xml, 199: TypeOID.json, 651: 650, 775: 774,
    791: 790, 1000: TypeOID.bool, 1001: TypeOID.bytea, 1002: TypeOID.char, 1003: TypeOID.name,
    1005: TypeOID.int2, 1007: TypeOID.int4, 1009: TypeOID.text, 1014: TypeOID.bpchar,
    1015: TypeOID.varchar, 1016: TypeOID.int8, 1021: TypeOID.float4, 1022: TypeOID.float8,
    1028: TypeOID.oid, 1040: 829, 1041: 869, 1115: TypeOID.timestamp, 1182: TypeOID.date,
    1183: 1083, 1185: TypeOID.timestamptz, 1187: 1186, 1231: TypeOID.numeric, 1270: 1266,
    1561: 1560, 1563: 1562, 2951: TypeOID.uuid, 3221: 3220, 3807: TypeOID.jsonb, 3905: 3904,
    3907: 3906, 3909: 3908, 3911: 3910, 3913: 3912, 3927: 3926,
  ]

  private static let bounds: [Oid: Oid] = [
    3904: TypeOID.int4, 3906: TypeOID.numeric, 3908: TypeOID.timestamp, 3910: TypeOID.timestamptz,
    3912: TypeOID.date, 3926: TypeOID.int8,
  ]

  private static let multirangeBounds: [Oid: Oid] = [
    4451: TypeOID.int4, 4532: TypeOID.numeric, 4533: TypeOID.timestamp, 4534: TypeOID.timestamptz,
    4535: TypeOID.date, 4536: TypeOID.int8,
  ]
}
