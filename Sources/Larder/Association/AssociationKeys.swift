import LarderSQLite

// The key columns of associations, and how two of them are compared that are stored differently.

/// A column whose values are keys: its table, its name, and how it is stored.
struct KeyColumn: Sendable {
  let table: TableCore
  let name: String
  private let definition: ColumnDefinition
  private let coding: ExpressionCoding?
  private var form: StoredForm { coding?.form ?? .own }

  init<R: Record, Value>(_ column: Column<R, Value>) {
    table = R.table.core
    name = column.name
    definition = column.storage.definition
    coding = column.storage.expressionCoding
  }

  /// The column, qualified by the name of its table in a query.
  func qualified(by alias: QueryAlias) -> SQLFragment {
    alias.column(
      name, isNullable: definition.type.isNullable,
      as: .column(isKey: definition.isPrimaryKey, definition.type.kind), coding: coding)
  }

  /// The column's index in the table. Throws if the table has no such column.
  var index: Int {
    get throws {
      guard let index = table.columns.firstIndex(where: { $0.name.isSame(as: name) }) else {
        throw RecordError.declaration(table: table.name, problem: "it has no column “\(name)”")
      }
      return index
    }
  }

  /// Throws if another column stores the same type in another form, because no keys would match.
  fileprivate func check(against other: KeyColumn, _ db: Database) throws {
    switch (form, other.form) {
    case (.own, .date(db.dateFormat)), (.date(db.dateFormat), .own): return
    case (let form, let otherForm) where form == otherForm: return
    default:
      throw DatabaseError(
        .misuse,
        "“\(table.name)”.“\(name)” and “\(other.table.name)”.“\(other.name)” are stored in different ways"
      )
    }
  }
}

/// How a foreign key is compared with the key that it refers to. The key's affinity and collation apply, as
/// when SQLite [enforces foreign keys](https://www.sqlite.org/foreignkeys.html#fk_schemacommands). If the
/// key's collation is BINARY, the foreign key's collation applies.
///
/// Both come from the database's tables, whatever the records declare. For views, SQLite doesn't report them.
struct KeyComparison {
  /// Whether keys are equal only if their values are, so that Swift matches them as SQLite does.
  private var isExact = true
  /// The collation to name when the key is the left operand; nil if it is the key's own.
  private var keyCollation: String?
  /// The collation to name when the foreign key is the left operand; nil if it is the foreign key's own.
  private var foreignKeyCollation: String?
  /// The collation to name when a converted foreign key is the left operand.
  private var convertedCollation: String?
  private var keyAffinity: ColumnAffinity?
  /// Whether SQLite may build an automatic index on a list of keys.
  private var isIndexed = true
  /// Whether foreign keys are converted for comparison, because their affinity differs from the key's.
  private var isConverted = false

  init(_ key: KeyColumn, _ foreignKey: KeyColumn, _ db: Database) throws {
    try key.check(against: foreignKey, db)
    // Other engines compare values of the same type, byte by byte.
    guard db.engine == nil else { return }
    let (left, right) = (try Side(key, db), try Side(foreignKey, db))
    let collation = left.isBinary ? right.collation : left.collation
    let name = collation.foldedName
    keyCollation = left.collation.foldedName == name ? nil : collation
    foreignKeyCollation = right.collation.foldedName == name ? nil : collation
    convertedCollation = left.isBinary && right.isBinary ? nil : collation
    keyAffinity = left.affinity
    if let one = left.affinity, let other = right.affinity {
      isConverted = !one.convertsLike(other)
      isExact = left.isBinary && right.isBinary && !isConverted
      isIndexed = ["binary".foldedName, "nocase".foldedName].contains(name)
    } else {
      (isExact, isIndexed) = (false, false)
    }
  }

  private struct Side {
    let collation: String
    /// The column's affinity; nil if SQLite doesn't report it.
    let affinity: ColumnAffinity?

    var isBinary: Bool { collation.foldedName == "binary".foldedName }

    init(_ column: KeyColumn, _ db: Database) throws {
      let declared = column.table.columns[try column.index].collation
      let found = try db.metadata(ofColumn: column.name, in: column.table.name)
      collation = found?.collation ?? declared ?? "BINARY"
      affinity = found?.affinity
    }
  }

  /// Whether these keys already have the form in which the key's column would store them.
  func isStored(_ keys: some Collection<DatabaseValue>) -> Bool {
    switch keyAffinity {
    case .some(.none), nil: true
    case .text: keys.allSatisfy { [.text, .blob].contains($0.storageClass) }
    case .numeric, .real: !keys.contains { $0.storageClass == .text }
    }
  }

  /// Whether each row that a list of these keys finds contains exactly the key that found it.
  func isExact(for keys: some Collection<DatabaseValue>) -> Bool { isExact && isStored(keys) }

  /// A value as the key's column would store it.
  func stored(_ value: SQLFragment) -> SQLFragment { keyAffinity?.applied(to: value) ?? value }

  func equals(key: SQLFragment, foreignKey: SQLFragment) -> SQLFragment {
    let foreignKey = isConverted ? foreignKey.withoutAffinity : foreignKey
    return key.infix(.equal, operand: collated(foreignKey, keyCollation))
  }

  // The conditions below compare with a list's column, whose values have the form in which the key's column
  // stores them. They convert nothing, since SQLite builds no index on a column that it would have to
  // convert. Nor may it build one for other collations: up to SQLite 3.40, the Bloom filter before such an
  // index depends on a text's length, and loses values that RTRIM takes for equal.

  func equals(key: SQLFragment, listed value: SQLFragment) -> SQLFragment {
    key.withoutAffinity.infix(.equal, operand: collated(listed(value), keyCollation))
  }

  func equals(foreignKey: SQLFragment, listed value: SQLFragment) -> SQLFragment {
    // A converted foreign key has lost its collation.
    let collation = isConverted ? convertedCollation : foreignKeyCollation
    let left = isConverted ? stored(foreignKey) : foreignKey.withoutAffinity
    return left.infix(.equal, operand: collated(listed(value), collation))
  }

  private func listed(_ value: SQLFragment) -> SQLFragment {
    isIndexed ? value : value.withoutAffinity
  }

  /// Whether an index on the key's column can find a list's values.
  var usesIndexOfKey: Bool { keyCollation == nil }
  var usesIndexOfForeignKey: Bool { foreignKeyCollation == nil && !isConverted }

  private func collated(_ value: SQLFragment, _ collation: String?) -> SQLFragment {
    guard let collation else { return value }
    return SQLFragment(value, .collate, SQLFragment(text: collation.quotedIdentifier))
  }
}

extension ColumnAffinity {
  /// Whether both affinities convert a compared value in the same way.
  fileprivate func convertsLike(_ other: ColumnAffinity) -> Bool {
    let numbers: [ColumnAffinity] = [.numeric, .real]
    return self == other || numbers.contains(self) && numbers.contains(other)
  }

  /// A value as a column of this affinity stores or compares it. A CAST alone would also turn blobs into
  /// text, and texts that aren't numbers into 0.
  fileprivate func applied(to value: SQLFragment) -> SQLFragment {
    let converted: SQLFragment
    switch self {
    case .none: converted = value.withoutAffinity
    case .text:
      let text = SQLFragment(.cast(value, .text))
      converted = "CASE typeof(\(value)) WHEN 'blob' THEN \(value) ELSE \(text) END"
    case .numeric, .real:
      let number: SQLFragment = "CAST(\(value) AS NUMERIC)"
      converted = """
        CASE WHEN \(number) = \(value.withoutAffinity) THEN \(number) ELSE \(value) END
        """
    }
    return SQLFragment(.form(.withAffinity, [value], converted))
  }
}

extension SQLFragment {
  /// The value without its affinity, which would convert values it is compared with. Its collation stays.
  fileprivate var withoutAffinity: SQLFragment {
    SQLFragment(.form(.withoutAffinity, [self], "+\(self)"), .sign)
  }
}
