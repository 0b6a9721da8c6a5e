/// What was found out of declarations: the compiler asks for each record in two roles, and at each property whether
/// it is one's.
struct KnownDeclarations {
  private var records: [String: RecordExpansion] = [:]
  /// How many records are kept: more than a file of declarations has, and little memory.
  private static let greatestCount = 1000
  private var last: (type: String, isRecord: Bool)?

  /// What `@Record` writes for a declaration.
  mutating func record(
    _ declaration: String, attribute: String, isNested: Bool
  ) throws -> RecordExpansion {
    let key = (isNested ? "nested" : "") + attribute + declaration
    if let known = records[key] { return known }
    let record = try RecordExpansion(
      declaration: declaration, attribute: attribute, isNested: isNested)
    if records.count >= Self.greatestCount { records = [:] }
    records[key] = record
    return record
  }

  /// Whether a declaration, whose members may be left out, is a record's.
  mutating func isRecord(_ type: String) throws -> Bool {
    if let last, last.type == type { return last.isRecord }
    var scanner = SourceScanner(SourceBytes(type))
    let isRecord = try scanner.declarationPrefix().attribute("Record") != nil
    last = (type, isRecord)
    return isRecord
  }
}
