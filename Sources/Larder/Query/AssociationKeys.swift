import LarderSQLite

// The keys by which associations meet, and how two are compared that are stored otherwise.

/// A column whose values are keys: its table, its name, and how it is stored.
struct KeyColumn: Sendable {
  let table: TableCore
  let name: String
  private let form: StoredForm

  init<R: Record, Value>(_ column: Column<R, Value>) {
    table = R.table.core
    name = column.name
    form = column.storage.expressionCoding?.form ?? .own
  }

  /// Where it is among the table's columns. Throws where it isn't there.
  var index: Int {
    get throws {
      guard let index = table.columns.firstIndex(where: { $0.name.isSame(as: name) }) else {
        throw RecordError.declaration(table: table.name, problem: "it has no column “\(name)”")
      }
      return index
    }
  }
}

extension KeyColumn {
  /// Throws where another column of the same type is stored in another way, so that no key would be found.
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

/// How a foreign key is compared with the key that it refers to: as SQLite
/// [compares them](https://www.sqlite.org/foreignkeys.html#fk_schemacommands) where it enforces foreign
/// keys, by the affinity of the key and by its collation; or, where that is BINARY, by the foreign key's.
///
/// Both are those of the database's tables, whatever their records declare; only of views SQLite doesn't
/// tell them.
struct KeyComparison {
  /// Whether keys are equal only where their values are, so that Swift finds them as SQLite does.
  private let isExact: Bool
  /// The collation to name where the key is on the left, whose own it isn't.
  private let keyCollation: String?
  /// The same for the foreign key.
  private let foreignKeyCollation: String?
  /// The same for what a foreign key was converted to.
  private let convertedCollation: String?
  private let keyAffinity: ColumnAffinity?
  /// Whether SQLite may make an index of a list.
  private let isIndexed: Bool
  /// Whether foreign keys are converted when they are compared, since theirs is another affinity.
  private let isConverted: Bool

  init(_ key: KeyColumn, _ foreignKey: KeyColumn, _ db: Database) throws {
    try key.check(against: foreignKey, db)
    guard db.engine == nil else {
      // Other engines compare what is of one type, byte by byte.
      (keyCollation, foreignKeyCollation, convertedCollation, keyAffinity) = (nil, nil, nil, nil)
      (isConverted, isExact, isIndexed) = (false, true, true)
      return
    }
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
      (isConverted, isExact, isIndexed) = (false, false, false)
    }
  }

  /// One of both columns.
  private struct Side {
    let collation: String
    /// Nil where SQLite doesn't tell.
    let affinity: ColumnAffinity?

    var isBinary: Bool { collation.foldedName == "binary".foldedName }

    init(_ column: KeyColumn, _ db: Database) throws {
      let declared = column.table.columns[try column.index].collation
      let found = try db.metadata(ofColumn: column.name, in: column.table.name)
      collation = found?.collation ?? declared ?? "BINARY"
      affinity = found?.affinity
    }
  }

  /// Whether keys are as the key's column stores them.
  func isStored(_ keys: some Collection<DatabaseValue>) -> Bool {
    switch keyAffinity {
    case .some(.none), nil: true
    case .text: keys.allSatisfy { [.text, .blob].contains($0.storageClass) }
    case .numeric, .real: !keys.contains { $0.storageClass == .text }
    }
  }

  /// Whether rows have the very keys that they are found by, if these are in a list.
  func isExact(for keys: some Collection<DatabaseValue>) -> Bool { isExact && isStored(keys) }

  /// A value as the key's column would store it.
  func stored(_ value: SQLFragment) -> SQLFragment { keyAffinity?.applied(to: value) ?? value }

  /// The key equals a foreign key.
  func equals(key: SQLFragment, foreignKey: SQLFragment) -> SQLFragment {
    let foreignKey = isConverted ? foreignKey.withoutAffinity : foreignKey
    return key.infix(.equal, operand: collated(foreignKey, keyCollation))
  }

  // What follows compares with the column of a list, whose values are as the key's column stores them, and
  // converts nothing any more: SQLite makes no index of a column that it would have to convert. Nor may it
  // make one for other collations: the Bloom filter before such an index goes by the length of a text up
  // to SQLite 3.40, and loses what RTRIM takes for equal.

  /// The key equals a value of a list.
  func equals(key: SQLFragment, listed value: SQLFragment) -> SQLFragment {
    key.withoutAffinity.infix(.equal, operand: collated(listed(value), keyCollation))
  }

  /// The foreign key equals a value of a list.
  func equals(foreignKey: SQLFragment, listed value: SQLFragment) -> SQLFragment {
    // A converted one has no collation any more.
    let collation = isConverted ? convertedCollation : foreignKeyCollation
    let left = isConverted ? stored(foreignKey) : foreignKey.withoutAffinity
    return left.infix(.equal, operand: collated(listed(value), collation))
  }

  private func listed(_ value: SQLFragment) -> SQLFragment {
    isIndexed ? value : value.withoutAffinity
  }

  /// Whether an index of the key's column finds what equals a list.
  var usesIndexOfKey: Bool { keyCollation == nil }
  /// Whether an index of the foreign key's column does.
  var usesIndexOfForeignKey: Bool { foreignKeyCollation == nil && !isConverted }

  private func collated(_ value: SQLFragment, _ collation: String?) -> SQLFragment {
    guard let collation else { return value }
    return SQLFragment(value, .collate, SQLFragment(text: collation.quotedIdentifier))
  }
}

extension ColumnAffinity {
  /// Whether it makes the same of what it is compared with.
  fileprivate func convertsLike(_ other: ColumnAffinity) -> Bool {
    let numbers: [ColumnAffinity] = [.numeric, .real]
    return self == other || numbers.contains(self) && numbers.contains(other)
  }

  /// A value as a column of this affinity stores it, or compares it. A CAST alone would also make text of
  /// blobs, and 0 of texts that are no numbers.
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
  /// A column's value, which converts nothing that it is compared with. Its collation stays.
  fileprivate var withoutAffinity: SQLFragment {
    SQLFragment(.form(.withoutAffinity, [self], "+\(self)"), .sign)
  }
}
