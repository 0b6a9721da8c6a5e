import Larder
import LarderSQLite
import LarderTerminal

/// A column that is copied.
struct CopiedColumn {
  /// The name in the source. The target may spell it differently.
  let name: String
  var targetName: String
  var kind: CopyKind
  /// Whether this is the rowid, in a table where no column is its alias.
  let isRowID: Bool

  init(_ name: String, _ kind: CopyKind, isRowID: Bool = false) {
    self.name = name
    targetName = name
    self.kind = kind
    self.isRowID = isRowID
  }
}

struct CopiedTable {
  let schema: TableSchema
  var targetName: String
  var columns: [CopiedColumn]
  /// The source's and the target's table in a FROM clause, with `ONLY` on a server: otherwise the rows of
  /// tables that inherit from it would be among its own.
  var sourcePlace: String
  var targetPlace: String
  /// The columns that aren't copied, with the reasons, as phrases for the report.
  private(set) var leftOut: [String] = []

  var name: String { schema.name }

  /// The query that reads the rows in the source.
  var sourceSQL: String { "SELECT \(columns.map(\.name).identifierList) FROM \(sourcePlace)" }
  /// The query that reads the same columns in the target.
  var targetSQL: String {
    "SELECT \(columns.map(\.targetName).identifierList) FROM \(targetPlace)"
  }

  private init(_ schema: TableSchema, _ columns: [CopiedColumn]) {
    self.schema = schema
    targetName = schema.name
    self.columns = columns
    sourcePlace = schema.name.quotedIdentifier
    targetPlace = sourcePlace
  }
}

extension CopiedTable {
  /// Plans the copy of a server's table.
  init(ofServer table: TableSchema, isPartitioned: Bool) {
    self.init(table, table.columns.map { CopiedColumn($0.name, CopyKind(ofServerType: $0.type)) })
    if !isPartitioned { sourcePlace = "ONLY \(sourcePlace)" }
  }

  /// Plans the copy of a file's virtual table to a server.
  init(ofVirtual table: TableSchema, hasOwnKey: Bool, _ db: Database) throws {
    try self.init(ofFile: table, db)
    guard !hasOwnKey, let name = table.rowIDNames.first else { return }
    columns.insert(CopiedColumn(name, .integer(bytes: 8), isRowID: true), at: 0)
  }

  /// Plans the copy of a file's table to another file.
  init(asItIs table: TableSchema) {
    let number = table.rowIDColumn == nil ? table.rowIDNames.first : nil
    self.init(
      table,
      (number.map { [CopiedColumn($0, .any, isRowID: true)] } ?? [])
        + table.columns.filter { $0.generated == nil }.map { CopiedColumn($0.name, .any) })
  }

  /// Plans the copy of a file's table to a server. Where a declaration doesn't determine a column's kind, the
  /// stored values do.
  init(ofFile table: TableSchema, _ db: Database) throws {
    let unreadable = try table.unreadableColumns(in: db)
    self.init(
      table,
      try table.columns.filter { column in
        !unreadable.contains { $0.name == column.name }
      }.map {
        CopiedColumn(
          $0.name, try Self.kind(of: $0, table) ?? Self.storedKind(of: $0, in: table, db))
      })
    leftOut = unreadable.map { "“\(table.name)”.“\($0.name)”: \($0.reason)" }
  }

  /// The kind by the column's declaration; nil if that doesn't determine it.
  private static func kind(of column: ColumnSchema, _ table: TableSchema) -> CopyKind? {
    switch ColumnForm(type: column.type, isStrict: table.isStrict) {
    // POINT is a number for SQLite, which finds INT in it, but the shapes of maps are blobs.
    case .integer: column.type.uppercased().contains("POINT") ? nil : .integer(bytes: 8)
    case .real: .real
    case .text: .text
    case .any, .numeric: nil
    }
  }

  /// The words of types that mostly hold texts, although SQLite takes them for numbers.
  private static let wordsOfTexts = ["DATE", "TIME", "UUID", "GUID", "STRING", "JSON", "[]"]

  /// The kind by the stored values. If texts and numbers are mixed, the copy will report one of them as an
  /// error, with its row.
  private static func storedKind(
    of column: ColumnSchema, in table: TableSchema, _ db: Database
  ) throws -> CopyKind {
    try Interruption.check()
    let name = column.name.quotedIdentifier
    let rows = try db.executeQuery(
      SQL(
        raw: """
          SELECT count(*) FILTER (WHERE typeof(\(name)) = 'integer'),
            count(*) FILTER (WHERE typeof(\(name)) = 'real'),
            count(*) FILTER (WHERE typeof(\(name)) = 'text'),
            count(*) FILTER (WHERE typeof(\(name)) = 'blob'),
            count(*) FILTER (WHERE typeof(\(name)) = 'integer' AND \(name) NOT IN (0, 1))
          FROM main.\(table.name.quotedIdentifier)
          """))
    let found = try rows.map { row in try (0..<5).map { try row.get(at: $0, as: Int.self) > 0 } }
    guard let has = found.first else { return .text }
    let type = column.type.uppercased()
    let isOfBlobs = type.contains("BLOB") || type.contains("POINT")
    if isOfBlobs, has[3] || !has.contains(true) { return .blob }
    if has[2] { return .text }
    if has[3] { return .blob }
    if has[1] { return .real }
    if type.contains("BOOL"), !has[4] { return .bool }
    let isOfTexts = type.isEmpty || Self.wordsOfTexts.contains { type.contains($0) }
    return !has[0] && isOfTexts ? .text : .integer(bytes: 8)
  }

  /// Adapts names, types and the set of columns to the target's existing table.
  mutating func adapt(to target: TableSchema, onServer: Bool, _ path: String) throws {
    targetName = target.name
    targetPlace = target.name.quotedIdentifier
    for index in columns.indices.reversed() {
      let name = columns[index].name
      if columns[index].isRowID, !onServer {
        let isThere =
          target.rowIDColumn == nil && target.rowIDNames.contains { $0.isSameName(name) }
        if !isThere { columns.remove(at: index) }
        continue
      }
      let found = target.columns.first { onServer ? $0.name == name : $0.name.isSameName(name) }
      guard let found else { throw Failure("\(path): “\(target.name)” has no column “\(name)”") }
      if found.generated != nil {
        columns.remove(at: index)
        continue
      }
      columns[index].targetName = found.name
      if onServer { columns[index].kind = CopyKind(ofServerType: found.type) }
    }
    if columns.isEmpty { throw Failure("“\(name)” has only computed columns") }
  }
}

extension [CopiedTable] {
  /// Gives columns of foreign keys the kind of the key that they refer to, whose values they can only have. A
  /// column without values tells no kind itself, and a server takes only references of one type.
  mutating func takeKindsOfKeys() {
    let places = map(\.name).places
    // A key may itself be a reference. Each pass goes one reference further, and references may be a circle.
    for _ in indices {
      var hasChanged = false
      for (place, table) in enumerated() {
        for key in table.schema.foreignKeys {
          guard let other = places[key.referencedTable.foldedName] else { continue }
          let referenced =
            key.referencedColumns.isEmpty ? self[other].schema.primaryKey : key.referencedColumns
          for (name, keyName) in zip(key.columns, referenced) {
            guard let column = self[place].columns.firstIndex(where: { $0.name.isSameName(name) }),
              let kind = self[other].columns.first(where: { $0.name.isSameName(keyName) })?.kind,
              self[place].columns[column].kind != kind
            else { continue }
            self[place].columns[column].kind = kind
            hasChanged = true
          }
        }
      }
      if !hasChanged { return }
    }
  }

  /// Orders tables before those that refer to them, as far as references have no cycles.
  func inOrderOfReferences() throws -> [CopiedTable] {
    let places = map(\.name).places
    var waitsFor = Array<Set<Int>>(repeating: [], count: count)
    var waiters = Array<[Int]>(repeating: [], count: count)
    for (place, table) in enumerated() {
      for key in table.schema.foreignKeys {
        guard let other = places[key.referencedTable.foldedName], other != place,
          waitsFor[place].insert(other).inserted
        else { continue }
        waiters[other].append(place)
      }
    }
    var counts = waitsFor.map(\.count)
    var isOrdered = Array<Bool>(repeating: false, count: count)
    var ordered: [CopiedTable] = []
    var ready = indices.filter { counts[$0] == 0 }
    var first = 0
    while ordered.count < count {
      try Interruption.check()
      if ready.isEmpty {
        // A cycle is broken at the first table that waits.
        while isOrdered[first] { first += 1 }
        ready = [first]
      }
      for place in ready { isOrdered[place] = true }
      ordered += ready.map { self[$0] }
      var next: [Int] = []
      for waiter in ready.flatMap({ waiters[$0] }) {
        counts[waiter] -= 1
        if counts[waiter] == 0, !isOrdered[waiter] { next.append(waiter) }
      }
      ready = next.sorted()
    }
    return ordered
  }
}
