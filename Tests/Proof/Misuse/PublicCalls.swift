import LarderBackup
import LarderFleet
import Foundation

/// Whether the matrix of misuse has every public call that has something to do with a connection.
///
/// It is found in the symbol graphs that the compiler makes of the library: whatever belongs to a
/// type of connections, or takes, returns or holds one. Other types are values.
enum PublicCalls {
  /// The types that are, or look into, a connection.
  private static let connected: Set = [
    "Blob", "ColumnAccess", "ColumnReader", "Database", "DatabaseAccess", "DatabasePool",
    "DatabaseQueue", "InterruptHandle", "ParameterBinder", "RepeatedStatements", "ResultSet",
    "Row", "Statement",
  ]

  /// The types that are values: good anywhere, at any time.
  private static let values: Set = [
    "AccessStatistics", "AppliedMigration", "Arguments", "ArrayValue", "Assignments", "Association",
    "Authorizer", "CombinableStatement",
    "BatchControl", "BelongsTo", "Case", "ChangeFeed", "Changeset", "CheckpointMode",
    "CommittedChanges", "Column", "ColumnCoding", "ContinuousBackup", "CopyCheck", "DatabaseFleet",
    "FleetConfiguration", "FleetError", "FleetReport", "FleetStatistics",
    "ReplicaStatistics",
    "BoundTable", "ColumnDefinition", "ColumnOption", "ColumnSchema",
    "ColumnType", "CommonFields", "CommonRow", "CommonTable", "Compound", "Configuration",
    "ConflictPolicy", "QueryStatement", "TableFunction", "VirtualColumn", "VirtualTable",
    "VirtualTableChanges", "VirtualTableRequest",
    "ConstraintViolation", "ConversionError", "EncryptionKey", "DatabaseError", "DatabaseValue",
    "DatabaseFollower",
    "DatabaseValueConvertible", "DateFormat", "FolderSink", "LogObject", "LogSink",
    "ReplicatedDatabase", "EffectiveSettings", "Extension", "FeedOverflow",
    "Observation",
    "ObservedValues", "Outbox", "OutboxConsumer", "OutboxMessage", "OutboxOptions", "OutboxStart",
    "OutboxTables", "RecordChange", "RowChange",
    "FullTextDetail", "FullTextFields", "FullTextIndex", "FullTextPattern", "FullTextStorage",
    "FullTextTokenizer",
    "ForeignKeyAction", "ForeignKeySchema", "ForeignKeyViolation", "HasMany", "HasManyThrough",
    "IndexSchema", "Job", "JobContext", "JobError",
    "JobLimit", "JobOptions", "JobQueue", "JobSchedule", "JobStatistics", "JobWorkerOptions",
    "JSON", "JSONElement", "JSONExpression", "Join2", "Join3", "Join4", "Limit",
    "Mapped", "Migration", "MigrationError",
    "Migrator", "NoSuchColumn",
    "NotACondition", "NumberValue", "OperandsOfDifferentTypes", "OptionalFields", "OrderingTerm",
    "Page", "PageError", "Query", "QueryColumns", "QueryCursor", "QueryNames", "QueryPlan",
    "QuerySource", "QueryTable", "QueryTableDefinition", "RangeValue", "RealValue", "RebuildLosses",
    "Record",
    "RecordError", "RecordFields", "RecordHooks", "ResultCode", "ScopeSpan", "SQL",
    "SQLExpression",
    "SQLiteLibrary", "Schema", "SchemaEntry", "SchemaError", "SchemaStep", "Selection",
    "StorageClass", "StoredJob", "Table", "TableConstraint",
    "TableDifference", "TableOptions", "TableSchema", "TextValue",
    "TraceEvent", "TransactionKind", "UnsupportedByEngine",
  ]

  /// What isn't called by a program, or where nothing can be wrong.
  private static let excused: Set = [
    // A setting, whose closure is a situation of its own.
    "Configuration.prepareDatabase"
  ]

  /// What the library calls from code that is inlined into programs, and the documentation leaves out: the
  /// matrix has them, the symbol graphs don't.
  private static let hidden = Set(
    ["ColumnAccess", "ResultSet", "Row", "Statement"].flatMap { type in
      ["describe(_:at:)", "reader(at:)", "whileReading(_:)"].map { "\(type).\($0)" }
    })

  private struct Graph: Decodable {
    let symbols: [Symbol]
  }

  private struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Kind: Decodable { let identifier: String }
    struct Fragment: Decodable { let preciseIdentifier: String? }

    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [Fragment]?

    /// The types in its declaration.
    var types: [String] { (declarationFragments ?? []).compactMap(\.preciseIdentifier) }
    var name: String { pathComponents.joined(separator: ".") }
    var isType: Bool {
      ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier)
    }
    var isCall: Bool {
      ["method", "property", "init", "subscript", "func", "func.op"].contains {
        kind.identifier == "swift.\($0)" || kind.identifier == "swift.type.\($0)"
      }
    }
  }

  /// What is wrong between the symbol graphs in these files and the matrix.
  static func problems(_ files: some Sequence<String>) throws -> [String] {
    let symbols = try files.flatMap { file in
      let data = try Data(contentsOf: URL(fileURLWithPath: file))
      return try JSONDecoder().decode(Graph.self, from: data).symbols
    }
    let types = symbols.filter { $0.isType && $0.pathComponents.count == 1 }
    let unknown = types.map(\.name).filter { !connected.contains($0) && !values.contains($0) }
    let connections = Set(
      types.filter { connected.contains($0.name) }.map(\.identifier.precise))
    var names: Set<String> = []
    for symbol in symbols where symbol.isCall {
      let isConnected =
        symbol.pathComponents.count == 2 && connected.contains(symbol.pathComponents[0])
      if isConnected || !connections.isDisjoint(with: symbol.types) { names.insert(symbol.name) }
    }
    let covered = MisuseMatrix.symbols
    if names.isEmpty { return ["the symbol graphs have no calls"] }
    return unknown.sorted().map { "the type \($0) is in no list of PublicCalls.swift" }
      + names.subtracting(covered).subtracting(excused).sorted().map {
        "\($0) isn't in the matrix of misuse"
      }
      + covered.union(excused).subtracting(names).subtracting(hidden).sorted().map {
        "\($0) is in the matrix of misuse, and no public call"
      }
  }
}
