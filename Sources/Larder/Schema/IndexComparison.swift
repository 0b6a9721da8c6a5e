import LarderSQLite

// Indexes are compared by what they are for: their names don't matter, a unique one serves where
// none is asked for, and a UNIQUE constraint has an index of its own.

extension TableSchema {
  /// The UNIQUE constraints of this table for which another has no index.
  func missingUniqueConstraints(in other: TableSchema) -> [[KeyTerm]] {
    uniqueTerms.filter { terms in
      // The row id is unique without an index.
      terms.map(\.column) != [rowIDColumn]
        && !other.uniqueKeys.contains { $0 == .unique(on: terms) }
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
  func surplusUniqueConstraints(for declared: TableSchema) -> [[KeyTerm]] {
    uniqueTerms.filter { terms in
      let key = IndexKey.unique(on: terms)
      return terms.map(\.column) != [rowIDColumn] && !declared.uniqueKeys.contains(key)
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
    uniqueTerms.map { IndexKey.unique(on: $0) } + indexes.map(\.key).filter(\.isUnique)
  }
}

/// What an index is for.
struct IndexKey: Hashable {
  let terms: [[String]]
  let isUnique: Bool
  let condition: [String]

  static func unique(on terms: [KeyTerm]) -> IndexKey {
    IndexKey(terms: terms.map(\.normalized), isUnique: true, condition: [])
  }

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
  /// The same index where its statement has strings in double quotes, which SQLite takes for such in
  /// what a file keeps, where no column has the name: in single quotes, as new statements want them.
  func withoutQuotedStrings(in table: TableSchema) -> IndexSchema {
    let pieces = SQL(raw: sql).pieces
    let tokens = sql.sqlTokens
    guard let body = tokens.firstIndex(where: { $0.isSymbol("(") }) else { return self }
    var position = -1
    let text = pieces.map { piece in
      guard piece.kind != .space, piece.kind != .comment else { return piece.text }
      position += 1
      guard position > body, piece.text.utf8.first == UInt8(ascii: "\""),
        let name = tokens[position].name, table.column(name) == nil,
        !table.rowIDNames.contains(where: { $0.foldedName == name.foldedName }),
        !tokens[position - 1].isWord("collate"),
        position + 1 == tokens.count || !["(", "."].contains(where: tokens[position + 1].isSymbol)
      else { return piece.text }
      return "'" + name.replacing("'", with: "''") + "'"
    }.joined()
    return IndexSchema(
      name: self.name, terms: terms, isUnique: isUnique, condition: condition, sql: text)
  }

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
