import LarderSQLite

// Indexes are compared by what they are for: their names don't matter, a unique one serves where
// none is asked for, and a UNIQUE constraint has an index of its own.

extension TableSchema {
  /// The UNIQUE constraints of this table for which another has no index.
  func missingUniqueConstraints(in other: TableSchema) -> [[String]] {
    uniqueConstraints.filter { columns in
      // The row id is unique without an index.
      columns != [rowIDColumn] && !other.uniqueKeys.contains { $0 == .unique(on: columns) }
    }
  }

  /// The indexes of this table that another has none for.
  func missingIndexes(in other: TableSchema) -> [IndexSchema] {
    indexes.filter { index in
      !other.uniqueKeys.contains { $0.serves(index.key) }
        && !other.indexes.contains { $0.key.serves(index.key) }
    }
  }

  /// The UNIQUE constraints of this table that another doesn't have.
  func surplusUniqueConstraints(for declared: TableSchema) -> [[String]] {
    uniqueConstraints.filter { columns in
      let key = IndexKey.unique(on: columns)
      return columns != [rowIDColumn] && !declared.uniqueKeys.contains(key)
        && !declared.indexes.contains { $0.key == key }
    }
  }

  /// The indexes of this table that serve for nothing that another declares.
  func surplusIndexes(for declared: TableSchema) -> [IndexSchema] {
    indexes.filter { index in
      !declared.uniqueKeys.contains { index.key.serves($0) }
        && !declared.indexes.contains { index.key.serves($0.key) }
    }
  }

  /// What UNIQUE constraints and unique indexes rule out.
  fileprivate var uniqueKeys: [IndexKey] {
    uniqueConstraints.map { IndexKey.unique(on: $0) } + indexes.map(\.key).filter(\.isUnique)
  }
}

/// What an index is for.
struct IndexKey: Hashable {
  let terms: [[String]]
  let isUnique: Bool
  let condition: [String]

  static func unique(on columns: [String]) -> IndexKey {
    IndexKey(
      terms: columns.map { [String(decoding: $0.foldedName, as: UTF8.self)] }, isUnique: true,
      condition: [])
  }

  /// Whether it is on a column, or has a condition on it.
  func mentions(_ column: String) -> Bool {
    let name = String(decoding: column.foldedName, as: UTF8.self)
    return terms.contains { $0.contains(name) } || condition.contains(name)
  }

  /// Whether an index like this does for another.
  func serves(_ other: IndexKey) -> Bool {
    terms == other.terms && condition == other.condition && (isUnique || !other.isUnique)
  }
}

extension IndexSchema {
  var key: IndexKey {
    IndexKey(
      terms: terms.map { term in
        let words = term.normalizedSQL
        // It is the order that all have.
        return words.count > 1 && words.last == "asc" ? Array(words.dropLast()) : words
      }, isUnique: isUnique, condition: condition?.normalizedSQL ?? [])
  }

  /// The column that it is on, if that is all.
  var onlyColumn: String? {
    let pieces = terms.first?.sqlTokens ?? []
    return terms.count == 1 && pieces.count == 1 ? pieces[0].identifier : nil
  }
}
