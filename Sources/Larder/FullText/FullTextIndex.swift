import LarderSQLite

/// A full-text index of a record's table: finds rows by the words in some columns.
///
/// ```swift
/// extension City {
///   static let text = FullTextIndex(
///     of: City.self, \.name, \.country, tokenizer: .unicode61(removingDiacritics: true), prefixes: [2, 3])
/// }
/// try City.text.create(db)                       // once, in a migration
/// let hits = try City.matching(City.text, .allPrefixes(of: userInput))
///   .order { $0.rank }
///   .select { ($0, $0.snippet(\.name, mark: "<b>", "</b>"), $0.rank) }
///   .limit(20).fetchAll(db)
/// ```
///
/// It is an FTS5 table that triggers keep up to date, whoever writes to the record's table:
/// other connections and programs too, if they have the tokenizer. Rows that replace others
/// (`INSERT OR REPLACE`) are covered too, by the unique columns that the record declares.
/// The connection needn't trust its schema (``LarderSQLite/Configuration/trustsSchema``):
/// Larder's connections allow triggers to write to FTS5's tables, and allow nothing else.
/// Drop the index before its table, or create it again with `ifNotExists`: a table's
/// triggers are dropped with it.
///
/// The table needs an integer primary key. See [FTS5](https://www.sqlite.org/fts5.html). On PostgreSQL the
/// index is a column of text search vectors with a GIN index.
public struct FullTextIndex<R: Record>: Sendable {
  let definition: FullTextDefinition
  /// The name of the FTS5 table, or of the column of vectors.
  public var name: String { definition.name }

  /// An index of a table's columns, which hold text.
  ///
  /// - `name`: the name of the FTS5 table; that of the record's table with `_text` if nil.
  /// - `tokenizer`: splits texts into terms.
  /// - `prefixes`: the lengths of prefixes, in characters, that are looked up as fast as whole words.
  /// - `weights`: how much a word in each column counts for the rank; 1 each if there are none.
  /// - `storage`: the place where the texts are stored.
  /// - `detail`: how exactly the index knows where a term stands. With less than all detail, searching for
  ///   phrases, or for words that the tokenizer splits into several terms, throws
  ///   ``LarderSQLite/DatabaseError``.
  /// - `sizes`: whether the number of words of each text is stored; without it, ranks take longer.
  public init(
    of record: R.Type = R.self, _ columns: PartialKeyPath<R.Columns>..., named name: String? = nil,
    tokenizer: FullTextTokenizer = .unicode61(), prefixes: [Int] = [], weights: [Double] = [],
    storage: FullTextStorage = .table, detail: FullTextDetail = .full, sizes: Bool = true
  ) {
    // JSON is refused: the words in its source would include quotes and escapes.
    let names = columns.compactMap { (R.columns[keyPath: $0] as? any NamedColumn) }
      .filter { !$0.isJSON }.map(\.name)
    definition = FullTextDefinition(
      R.table.core, name, names.count == columns.count ? names : [], tokenizer, prefixes, weights,
      storage, detail, sizes, hasOwnRank: Self.hasOwnRank)
  }

  /// Whether the records have a property that is called as the rank of a match.
  private static var hasOwnRank: Bool {
    Mirror(reflecting: R.columns).children.contains { $0.label == "rank" }
  }
}

/// The place where a ``FullTextIndex`` stores its texts.
public enum FullTextStorage: Sendable {
  /// In the record's table, from which they are read to be marked
  /// ([external content](https://www.sqlite.org/fts5.html#external_content_tables)).
  case table
  /// In the index, as a copy.
  case copied
  /// In neither: rows are found, but nothing of them can be marked
  /// ([contentless](https://www.sqlite.org/fts5.html#contentless_tables)).
  case contentless
}

/// How exactly a ``FullTextIndex`` knows where a term stands; see
/// [detail](https://www.sqlite.org/fts5.html#the_detail_option).
public enum FullTextDetail: String, Sendable {
  /// The row, the column and the place.
  case full
  /// The row and the column.
  case column
  /// The row: columns can't be named in patterns.
  case row = "none"
}

/// A ``FullTextIndex`` without the type of its records.
package final class FullTextDefinition: Sendable {
  package let name: String
  package let table: String
  package let schema: String?
  package var quotedTable: String { table.quoted(in: schema) }
  /// The primary key.
  let key: String
  package let columns: [String]
  /// The sets of columns that are unique together, besides the key.
  let uniqueSets: [[String]]
  package let tokenizer: FullTextTokenizer
  let prefixes: [Int]
  let weights: [Double]
  let storage: FullTextStorage
  let detail: FullTextDetail
  let hasSizes: Bool
  /// Whether the records have a property that is called as the rank of a match. It is looked up once: that takes as
  /// long as a third of a query.
  let hasOwnRank: Bool
  /// The problem of the declaration, if it has one.
  private let problem: String?
  /// The record's table; nil for the index of a migration's step.
  private let core: TableCore?

  init(
    _ core: TableCore, _ name: String?, _ columns: [String], _ tokenizer: FullTextTokenizer,
    _ prefixes: [Int], _ weights: [Double], _ storage: FullTextStorage, _ detail: FullTextDetail,
    _ hasSizes: Bool, hasOwnRank: Bool
  ) {
    self.core = core
    self.hasOwnRank = hasOwnRank
    self.name = name ?? core.name + "_text"
    table = core.name
    schema = core.schema
    key = core.primaryKey.first?.name ?? ""
    self.columns = columns
    uniqueSets =
      core.columns.filter { $0.isUnique }.map { [$0.name] }
      + core.constraints.compactMap(\.uniqueColumns)
    self.tokenizer = tokenizer
    self.prefixes = prefixes
    self.weights = weights
    self.storage = storage
    self.detail = detail
    self.hasSizes = hasSizes
    problem =
      Self.problem(core, columns)
      ?? Self.problem(self.name, columns, tokenizer, prefixes, weights)
  }

  /// The index of a table as a migration's step meets it, whose columns are there.
  init(
    _ name: String, of table: TableSchema, _ columns: [String], _ tokenizer: FullTextTokenizer,
    _ prefixes: [Int], _ weights: [Double], _ storage: FullTextStorage, _ detail: FullTextDetail,
    _ hasSizes: Bool
  ) {
    core = nil
    hasOwnRank = false
    self.name = name
    self.table = table.name
    schema = nil
    key = table.rowIDColumn ?? ""
    self.columns = columns
    // In the order of a record's declaration, so that its triggers are the same: constraints of a column first.
    let sets = table.uniqueConstraints
    let own = table.columns.map { [$0.name] }.filter(sets.contains)
    uniqueSets =
      own + sets.filter { !own.contains($0) }
      + table.indexes.filter { $0.isUnique && !$0.columns.contains(nil) }
      .map { $0.columns.compactMap { $0 } }
    self.tokenizer = tokenizer
    self.prefixes = prefixes
    self.weights = weights
    self.storage = storage
    self.detail = detail
    self.hasSizes = hasSizes
    problem =
      table.engine == nil && table.rowIDColumn == nil
      ? "the table has no integer primary key"
      : Self.problem(name, columns, tokenizer, prefixes, weights)
  }

  private static func problem(_ core: TableCore, _ columns: [String]) -> String? {
    let declared = columns.compactMap { column in core.columns.first { $0.name == column } }
    if columns.isEmpty || declared.count != columns.count {
      return "it has no columns, or one that isn't a text column of the table"
    }
    if declared.contains(where: { $0.type.kind != .text }) {
      return "a column doesn't hold text"
    }
    let key = core.primaryKey
    if key.count != 1 || key[0].type.kind != .integer || !key[0].isOfRowIDType
      || !core.options.isDisjoint(with: [.withoutRowID, .view])
    {
      return "the table has no integer primary key"
    }
    return nil
  }

  private static func problem(
    _ name: String, _ columns: [String], _ tokenizer: FullTextTokenizer, _ prefixes: [Int],
    _ weights: [Double]
  ) -> String? {
    let folded = columns.map(\.foldedName) + [name.foldedName]
    if name.isEmpty || name.utf8.contains(0) { return "its name is empty or holds a NUL" }
    if columns.isEmpty { return "it has no columns" }
    if Set(folded).count != folded.count
      || folded.contains(where: { $0 == Array("rank".utf8) || $0 == Array("rowid".utf8) })
    {
      return "two columns have the same name, or one is named rank, rowid or like the index"
    }
    if prefixes.contains(where: { !(1...999).contains($0) }) || prefixes.count > 31 {
      return "a prefix length isn't from 1 to 999, or there are more than 31 of them"
    }
    if !weights.isEmpty, weights.count != columns.count || !weights.allSatisfy(\.isFinite) {
      return "the weights have to be finite, one for each column"
    }
    return tokenizer.problem
  }

  /// The error of a wrong declaration; nil for a right one.
  var declarationError: RecordError? {
    problem.map { .declaration(table: table, problem: "in its full-text index “\(name)”, \($0)") }
  }

  /// Throws where the declaration is wrong.
  func check() throws {
    try core?.check()
    if let declarationError { throw declarationError }
  }
}
