import FoundationEssentials
import Larder
import LarderTerminal

/// The common properties of a column's values that were read, by which a coding is chosen that fits all of
/// them.
struct ColumnEvidence {
  /// The number of values that were read, without NULL.
  private(set) var values = 0
  private(set) var hasNull = false
  private(set) var storageClasses: Set<StorageClass> = []
  /// Whether some text isn't UTF-8, and so can't be a String.
  private(set) var hasBrokenText = false
  private(set) var areBits = true
  /// Whether all values are real numbers that are seconds since 1970 of the years 2000 to 2100.
  private(set) var areRecentSeconds = true
  private(set) var uuids = UUIDForms()
  /// The date formats that all texts have; more than one only if there is no value.
  private(set) var dates = DateForms()
  private(set) var json = JSONForms()
  private(set) var words = WordList()
  private(set) var decimals = DecimalForms()

  /// - Parameter isPython: whether a program in Python wrote the values.
  init(isPython: Bool = false) { dates.isPython = isPython }

  mutating func add(_ row: some ColumnAccess, _ index: Int) throws {
    let storageClass = try row.storageClass(at: index)
    guard storageClass != .null else { return hasNull = true }
    values += 1
    storageClasses.insert(storageClass)
    do {
      add(try row[index])
    } catch is ConversionError {
      hasBrokenText = true
      add(.text(""))
    }
  }

  private mutating func add(_ value: DatabaseValue) {
    if value != .integer(0), value != .integer(1) { areBits = false }
    if case .real(946_684_800...4_102_444_800) = value {} else { areRecentSeconds = false }
    uuids.add(value)
    dates.add(value)
    json.add(value)
    words.add(value)
    decimals.add(value)
  }

  /// Whether there are values, and all have these storage classes.
  func areAll(_ classes: StorageClass...) -> Bool {
    values > 0 && storageClasses.isSubset(of: classes)
  }
}

/// The UUID codings that fit all values.
struct UUIDForms {
  private var areCapital = true
  private var areSmall = true
  private var areBlobs = true
  /// Whether all blobs have a valid UUID [version](https://www.rfc-editor.org/rfc/rfc9562#name-uuid-format)
  /// and variant.
  private var haveVersions = true

  mutating func add(_ value: DatabaseValue) {
    switch value {
    case .text(let text) where areCapital || areSmall:
      areBlobs = false
      // The length is checked first, which is cheaper than parsing.
      guard text.utf8.count == 36, let id = UUID(uuidString: text) else {
        (areCapital, areSmall) = (false, false)
        return
      }
      areCapital = areCapital && id.uuidString == text
      areSmall = areSmall && id.uuidString.lowercased() == text
    case .blob(let bytes) where areBlobs && bytes.count == 16:
      (areCapital, areSmall) = (false, false)
      haveVersions = haveVersions && bytes[8] >> 6 == 2 && (1...8).contains(bytes[6] >> 4)
    default: (areCapital, areSmall, areBlobs) = (false, false, false)
    }
  }

  /// The coding's source text; nil if the values aren't all texts of UUIDs in the same case.
  var textCoding: String? { areCapital ? ".text" : areSmall ? ".lowercaseText" : nil }

  /// Whether the values may be UUIDs of 16 bytes. One hash of that length may look like a UUID, but several
  /// are unlikely to.
  func areBlobs(isNamed: Bool, values: Int) -> Bool {
    areBlobs && (isNamed || haveVersions && values >= 8)
  }
}

/// The Swift types as which all JSON texts can be decoded.
struct JSONForms {
  private static let shapes: [(type: String, fits: @Sendable (DatabaseValue) -> Bool)] = [
    ("[UUID]", fitUUIDs), ("[String]", fits([String].self)), ("[Int]", fits([Int].self)),
    ("[Double]", fits([Double].self)), ("[String: String]", fits([String: String].self)),
    ("[String: Int]", fits([String: Int].self)), ("[String: Double]", fits([String: Double].self)),
    (anyType, fits(AnyJSON.self)),
  ]
  /// The type for any JSON value, which is generated if it is needed.
  static let anyType = "JSONValue"
  /// The length limit in bytes: longer texts aren't parsed, and don't count as JSON.
  private static let mostBytes = 64 << 10

  private var shapes = Self.shapes
  /// Whether some text has content: an empty array or object would fit several types.
  private var saysType = false

  mutating func add(_ value: DatabaseValue) {
    guard !shapes.isEmpty else { return }
    guard case .text(let text) = value, text.utf8.count <= Self.mostBytes,
      let first = text.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    else { return shapes = [] }
    shapes.removeAll { !$0.fits(value) }
    saysType = saysType || text.utf8.filter { !" \t\r\n".utf8.contains($0) }.count > 2
  }

  /// The narrowest type that decodes all texts; nil if they aren't JSON. A declared type of arrays, such as
  /// Fluent's `UUID[]`, comes first: all of them may be empty.
  func type(declared: String) -> String? {
    if declared.hasSuffix("[]") {
      let types = [
        ("UUID", "[UUID]"), ("CHAR", "[String]"), ("TEXT", "[String]"), ("INT", "[Int]"),
        ("DOUBLE", "[Double]"), ("REAL", "[Double]"), ("FLOAT", "[Double]"),
      ]
      let type = types.first { declared.uppercased().contains($0.0) }?.1
      if let type, fit(type) { return type }
    }
    return saysType ? shapes.first?.type : shapes.last?.type
  }

  /// Whether all texts can be decoded as this type.
  func fit(_ type: String) -> Bool { shapes.contains { $0.type == type } }

  /// Whether a text is an array of UUIDs as Swift writes them, in capital letters.
  @Sendable private static func fitUUIDs(_ value: DatabaseValue) -> Bool {
    let texts = (try? JSON<[String]>(databaseValue: value))?.value
    return texts?.allSatisfy { UUID(uuidString: $0)?.uuidString == $0 } ?? false
  }

  private static func fits<Value: Codable & Sendable>(
    _ type: Value.Type
  ) -> @Sendable (DatabaseValue) -> Bool {
    { (try? JSON<Value>(databaseValue: $0)) != nil }
  }
}

/// Any JSON value. Decoding it only tests whether ``JSONForms/anyType`` could.
private struct AnyJSON: Codable, Sendable {
  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      while !list.isAtEnd { _ = try list.decode(AnyJSON.self) }
    } else if let object = try? decoder.container(keyedBy: Key.self) {
      for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
    } else {
      let value = try decoder.singleValueContainer()
      guard !value.decodeNil(), (try? value.decode(Bool.self)) == nil,
        (try? value.decode(Double.self)) == nil
      else { return }
      _ = try value.decode(String.self)
    }
  }

  func encode(to encoder: any Encoder) throws {}

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension Database {
  /// The evidence of the columns of a table or view, by its first and its last rows, within a time limit.
  ///
  /// - Parameters:
  ///   - columns: the columns' names.
  ///   - lastFirst: the ORDER BY term for the last rows; nil if the rows have no order.
  ///   - isPython: whether a program in Python wrote the rows.
  func evidence(
    of table: String, _ columns: [String], lastFirst: SQL?, rows: Int, isPython: Bool = false,
    within time: Duration
  ) throws -> [ColumnEvidence] {
    var evidence = Array(repeating: ColumnEvidence(isPython: isPython), count: columns.count)
    var seen = 0
    let deadline = ContinuousClock.now + time
    let list = SQL(raw: columns.identifierList)
    func look(_ order: SQL, _ limit: Int) throws {
      let sql: SQL = "SELECT \(list) FROM main.\(identifier: table) \(order) LIMIT \(limit)"
      _ = try within(deadline - .now) {
        try executeQuery(sql).forEach { row in
          for index in columns.indices { try evidence[index].add(row, index) }
          seen += 1
        }
      }
    }
    let first = lastFirst == nil ? rows : rows - rows / 2
    try look("", first)
    if let lastFirst, seen == first { try look("ORDER BY \(lastFirst)", rows / 2) }
    return evidence
  }
}
