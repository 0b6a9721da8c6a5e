import LarderSQLite

// Indexes are compared by what they are for. Their names don't matter, a unique index serves if only a plain
// one is declared, and a UNIQUE constraint has an index of its own.

extension TableSchema {
  /// The UNIQUE constraints of this table for which another table has no index.
  package func missingUniqueConstraints(in other: TableSchema) -> [IndexSchema] {
    // The row id is unique without an index.
    let keys = other.allIndexes.map(\.key)
    return uniqueIndexes.filter { $0.columns != [rowIDColumn] && !keys.contains($0.key) }
  }

  /// The indexes of this table for which another has no equivalent.
  package func missingIndexes(in other: TableSchema) -> [IndexSchema] {
    indexes.filter { index in !other.allIndexes.contains { $0.serves(as: index) } }
  }

  /// The indexes of this table that serve for none of another's declared indexes, without those that no
  /// record can declare.
  func surplusIndexes(for declared: TableSchema) -> [IndexSchema] {
    indexes.filter { index in
      index.isDeclarable && !declared.allIndexes.contains { index.serves(as: $0) }
    }
  }

  /// The indexes of this table that no record can declare, and that another table doesn't have.
  func undeclarableIndexes(missingIn other: TableSchema) -> [IndexSchema] {
    let known = Set(other.indexes.filter { !$0.isDeclarable }.map(\.serversDefinition))
    return indexes.filter { !$0.isDeclarable && !known.contains($0.serversDefinition) }
  }

  /// The indexes for which another table's only differ in where they have NULLs, each with one of those.
  func indexesWithOtherNulls(in other: TableSchema) -> [(IndexSchema, IndexSchema)] {
    indexes.compactMap { index in
      guard !other.allIndexes.contains(where: { $0.key.serves(index.key) }) else { return nil }
      let loose = index.key.withNullsAnywhere
      return other.allIndexes.first { $0.key.withNullsAnywhere.serves(loose) }.map { (index, $0) }
    }
  }

  private var allIndexes: [IndexSchema] { uniqueIndexes + indexes }
}

/// The properties of an index that decide which others it can replace.
struct IndexKey: Hashable {
  let terms: [[String]]
  let isUnique: Bool
  let condition: [String]

  /// Whether the index is on a column, or its condition uses the column.
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

  /// The key of an index that has NULLs at the other end on a server: it serves for all conditions and most orders,
  /// and other programs' indexes rarely say where they have NULLs.
  var withNullsAnywhere: IndexKey {
    let terms = terms.map { words in
      words.count > 2 && words[words.count - 2] == "nulls" ? Array(words.dropLast(2)) : words
    }
    return IndexKey(terms: terms, isUnique: isUnique, condition: condition)
  }

  func serves(_ other: IndexKey) -> Bool {
    terms == other.terms && condition == other.condition && (isUnique || !other.isUnique)
  }
}

extension IndexSchema {
  var key: IndexKey {
    IndexKey(
      terms: terms.map { term in
        let words = term.normalizedSQL
        // ASC is the default order, so it is left out.
        return words.count > 1 && words.last == "asc" ? Array(words.dropLast()) : words
      }, isUnique: isUnique, condition: condition?.normalizedSQL ?? [])
  }

  /// The part of a server's statement that says what the index is: its method, terms, columns and condition.
  fileprivate var serversDefinition: Substring {
    sql.firstRange(of: " USING ").map { sql[$0.lowerBound...] } ?? sql[...]
  }

  /// Whether this index can replace another. Somebody may have made it by hand with another method than the
  /// declared B-tree, such as GIN, for queries that a B-tree can't serve: then its name is enough.
  fileprivate func serves(as other: IndexSchema) -> Bool {
    if key.serves(other.key) || key.withNullsAnywhere.serves(other.key.withNullsAnywhere) {
      return true
    }
    return kind == .created && other.kind == .created && name.isSame(as: other.name)
      && sql.contains(" USING ") && !sql.contains(" USING btree (")
  }

  /// The column of an index on just one column; nil for other indexes.
  var onlyColumn: String? {
    guard terms.count == 1 else { return nil }
    if kind != .created { return columns[0] }
    let tokens = terms[0].sqlTokens
    return tokens.count == 1 ? tokens[0].identifier : nil
  }
}
