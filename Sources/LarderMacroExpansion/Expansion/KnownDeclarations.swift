/// A cache of analysed declarations. The compiler asks for each record in two roles, and asks at each
/// property whether it belongs to a record.
struct KnownDeclarations {
  private var records: [String: RecordExpansion] = [:]
  /// The number of records to keep: more than a file declares, and little memory.
  private static let greatestCount = 1000
  private var last: (type: String, isRecord: Bool)?

  /// The expansion of `@Record` for a declaration.
  mutating func record(
    _ declaration: String, attribute: String, outer: String?
  ) throws -> RecordExpansion {
    let key = (outer ?? "") + attribute + declaration
    if let known = records[key] { return known }
    let record = try RecordExpansion(
      declaration: declaration, attribute: attribute, outer: outer)
    if records.count >= Self.greatestCount { records = [:] }
    records[key] = record
    return record
  }

  /// Whether a declaration is a record's. Its text may lack the members.
  mutating func isRecord(_ type: String) throws -> Bool {
    if let last, last.type == type { return last.isRecord }
    var scanner = SourceScanner(SourceBytes(type))
    let isRecord = try scanner.declarationPrefix().attribute("Record") != nil
    last = (type, isRecord)
    return isRecord
  }
}
