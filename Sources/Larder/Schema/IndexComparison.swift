import LarderSQLite

// Indexes are compared by what they are for: their names don't matter, a unique one serves where
// none is asked for, and a UNIQUE constraint has an index of its own.

extension TableSchema {
  /// The UNIQUE constraints of this table for which another has no index.
  func missingUniqueConstraints(in other: TableSchema) -> [IndexSchema] {
    // The row id is unique without an index.
    uniqueIndexes.filter { $0.columns != [rowIDColumn] && !other.keys.contains($0.key) }
  }

  /// The indexes of this table that another has none for.
  func missingIndexes(in other: TableSchema) -> [IndexSchema] {
    indexes.filter { index in
      !other.keys.contains { $0.serves(index.key) }
        && !other.indexes.contains { $0.isOfAnotherMethod && $0.name.isSame(as: index.name) }
    }
  }

  /// The UNIQUE constraints of this table that another doesn't have.
  func surplusUniqueConstraints(for declared: TableSchema) -> [IndexSchema] {
    uniqueIndexes.filter { $0.columns != [rowIDColumn] && !declared.keys.contains($0.key) }
  }

  /// The indexes of this table that serve for nothing that another declares.
  func surplusIndexes(for declared: TableSchema) -> [IndexSchema] {
    indexes.filter { index in
      !declared.keys.contains { index.key.serves($0) }
        && !(index.isOfAnotherMethod
          && declared.indexes.contains { $0.name.isSame(as: index.name) })
    }
  }

  private var keys: [IndexKey] { (uniqueIndexes + indexes).map(\.key) }
}

/// What an index is for.
struct IndexKey: Hashable {
  let terms: [[String]]
  let isUnique: Bool
  let condition: [String]

  /// Whether it is on a column, or has a condition on it.
  func uses(_ column: String) -> Bool {
    let name = String(decoding: column.foldedName, as: UTF8.self)
    // The name of a function or a collation isn't the column's.
    return (terms + [condition]).contains { words in
      words.indices.contains {
        words[$0] == name && (words.indices.contains($0 + 1) ? words[$0 + 1] : "") != "("
          && ($0 == 0 || words[$0 - 1] != "collate")
      }
    }
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

  /// Whether it isn't the tree that is declared here, but one that somebody has made by hand for what a tree can't
  /// serve, such as GIN. Under the name of a declared index it takes the place of that.
  fileprivate var isOfAnotherMethod: Bool {
    sql.contains(" USING ") && !sql.contains(" USING btree (")
  }

  /// The column that it is on, if that is all.
  var onlyColumn: String? {
    guard terms.count == 1 else { return nil }
    if kind != .created { return columns[0] }
    let tokens = terms[0].sqlTokens
    return tokens.count == 1 ? tokens[0].identifier : nil
  }
}
