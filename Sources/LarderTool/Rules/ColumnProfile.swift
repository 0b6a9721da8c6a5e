import Larder
import LarderTerminal

/// The number of values of a form, and the first of them.
struct Tally {
  var count = 0
  var rowIDs: [Int64] = []
  var example: String?

  static let mostRowIDs = 5

  mutating func add(_ rowID: Int64?) {
    count += 1
    if let rowID, rowIDs.count < Self.mostRowIDs { rowIDs.append(rowID) }
  }
}

/// The forms of a column's values.
struct ColumnProfile {
  let column: ColumnSchema
  private(set) var tallies: [ValueForm: Tally] = [:]
  /// The lengths of the texts that are whole numbers.
  private(set) var lengths: Set<Int> = []
  /// The first text by its lower-case form, in a unique column; nil for others.
  private var folded: [String: String]?
  /// The different texts of a column with few of them; nil for others.
  private(set) var words: [String: Tally]?
  /// The most characters that a text may have, by the declared type.
  private let mostCharacters: Int?
  private static let mostWords = 30

  init(_ column: ColumnSchema, isUnique: Bool) {
    self.column = column
    folded = isUnique ? [:] : nil
    words = isUnique ? nil : [:]
    mostCharacters = column.declaredLength
  }

  func count(_ form: ValueForm) -> Int { tallies[form]?.count ?? 0 }

  /// The forms of dates that occur, the most frequent first.
  var dateForms: [(form: ValueForm, name: String, count: Int)] {
    tallies.compactMap { form, tally in
      if case .date(let name) = form { (form, name, tally.count) } else { nil }
    }.sorted { ($0.2, $1.1) > ($1.2, $0.1) }
  }

  /// The forms of UUIDs that occur, the most frequent first.
  var uuidForms: [(form: ValueForm, name: UUIDForm, count: Int)] {
    tallies.compactMap { form, tally in
      if case .uuid(let name) = form { (form, name, tally.count) } else { nil }
    }.sorted { ($0.2, $1.1.rawValue) > ($1.2, $0.1.rawValue) }
  }

  mutating func add(_ form: ValueForm, rowID: Int64?, example: @autoclosure () -> String? = nil) {
    var tally = tallies[form] ?? Tally()
    tally.add(rowID)
    if tally.count == 1 { tally.example = example() }
    tallies[form] = tally
  }

  mutating func add(_ text: TextForms, rowID: Int64?, isJSON: (String) throws -> Bool) rethrows {
    func example() -> String { "“\(text.text.cut(to: 40).printable)”" }
    add(.text, rowID: rowID, example: example())
    for form in text.forms { add(form, rowID: rowID, example: example()) }
    if let mostCharacters, text.text.utf8.count > mostCharacters,
      text.text.unicodeScalars.count > mostCharacters
    {
      add(.tooLong, rowID: rowID, example: example())
    }
    addWord(text.text, rowID: rowID)
    if text.forms.contains(.wholeNumber) { lengths.insert(text.text.utf8.count) }
    if !text.text.isEmpty {
      let isJSON = try text.looksLikeJSON && isJSON(text.text)
      add(isJSON ? .json : .notJSON, rowID: rowID, example: example())
    }
    // In short texts, such as units and abbreviations, case has a meaning.
    guard let folded, (3...1000).contains(text.text.utf8.count) else { return }
    let key = text.text.lowercased()
    if let first = folded[key] {
      if first != text.text {
        add(
          .otherCase, rowID: rowID, example: "\(example()) beside “\(first.cut(to: 40).printable)”")
      }
    } else {
      self.folded?[key] = text.text
    }
  }
}

extension ColumnProfile {
  private mutating func addWord(_ text: String, rowID: Int64?) {
    guard words != nil else { return }
    guard text.utf8.count <= 64, words?[text] != nil || words?.count ?? 0 < Self.mostWords else {
      return words = nil
    }
    words?[text, default: Tally()].add(rowID)
  }

  /// The texts that differ from a more frequent one only in case, each with that one.
  var otherSpellings: [(text: String, tally: Tally, usual: String)] {
    let groups = Dictionary(grouping: words ?? [:]) { $0.key.lowercased() }
    return groups.values.flatMap { spellings -> [(text: String, tally: Tally, usual: String)] in
      let sorted = spellings.sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }
      guard let usual = sorted.first?.key else { return [] }
      return sorted.dropFirst().map { ($0.key, $0.value, usual) }
    }.sorted { $0.text < $1.text }
  }
}

extension ColumnSchema {
  /// The number of characters in a type such as `VARCHAR(20)`; nil for other types.
  fileprivate var declaredLength: Int? {
    guard
      let form = type.uppercased().firstMatch(of: /(?:CHAR|CHARACTER|VARYING)[A-Z ]*\(\s*([0-9]+)/)
    else { return nil }
    return Int(form.1)
  }
}

/// The profiles of a table's columns, by the rows that were read.
struct TableProfile {
  private(set) var columns: [ColumnProfile]
  private(set) var rows = 0
  private(set) var isWhole = false
  private var lastRowID: Int64?

  /// SQLite's limit of 2000 result columns, less one for the rowid.
  static let mostColumns = 1999
  /// The number of places after the beginning at which a large table is sampled.
  private static let places = 9

  /// Reads the rows of a table; of a large one, those at its beginning and samples at places far apart.
  init(
    of table: TableSchema, without unreadable: [String], in db: Database, _ bounds: CheckBounds,
    until deadline: ContinuousClock.Instant?
  ) throws {
    let unique = Set(table.uniqueSets.filter { $0.count == 1 }.flatMap { $0 })
    columns = table.columns.filter { !unreadable.contains($0.name) }.prefix(Self.mostColumns).map {
      ColumnProfile($0, isUnique: unique.contains($0.name.lowercased()))
    }
    guard !columns.isEmpty else { return }
    let rowID = table.rowIDNames.first
    let names = columns.map(\.column.name.quotedIdentifier).joined(separator: ", ")
    let select = "SELECT \(rowID ?? "NULL"), \(names) FROM main.\(table.name.quotedIdentifier)"
    func read(_ rest: String, limit: Int) throws -> Bool {
      let before = rows
      let query = try db.executeQuery(SQL(raw: "\(select) \(rest) LIMIT \(limit)"))
      while try query.next() {
        try add(query, db)
        if rows % 256 == 0, let deadline, deadline < .now { return false }
      }
      return rows - before < limit
    }
    isWhole = try read(rowID.map { "ORDER BY \($0)" } ?? "", limit: bounds.rows)
    guard !isWhole, deadline.map({ $0 > .now }) ?? true, let rowID, let start = lastRowID,
      let end = try db.value(
        SQL(raw: "SELECT max(\(rowID)) FROM main.\(table.name.quotedIdentifier)"), as: Int64.self)
    else { return }
    let perPlace = max(1, bounds.rows / 20)
    let left = UInt64(bitPattern: end &- start)
    guard left > UInt64(Self.places * perPlace) else {
      // No more than the samples would be.
      isWhole = try read("WHERE \(rowID) > \(start) ORDER BY \(rowID)", limit: .max)
      return
    }
    let span = left / UInt64(Self.places)
    for place in 0..<Self.places {
      let next = start &+ Int64(bitPattern: span &* UInt64(place))
      let from = max(next, lastRowID ?? next)
      _ = try read(
        "WHERE \(rowID) > \(from) ORDER BY \(rowID)", limit: perPlace)
    }
  }

  private mutating func add(_ row: ResultSet, _ db: Database) throws {
    rows += 1
    let rowID = try row.get(at: 0, as: Int64?.self)
    lastRowID = rowID
    for index in columns.indices {
      let at = index + 1
      switch try row.storageClass(at: at) {
      case .null: columns[index].add(.null, rowID: rowID)
      case .blob:
        columns[index].add(.blob, rowID: rowID)
        if try row.withUnsafeBytes(at: at, { $0.count }) == 16 {
          columns[index].add(.uuid(.blob), rowID: rowID)
        }
      case .integer:
        let value = try row.get(at: at, as: Int64.self)
        columns[index].add(.integer, rowID: rowID, example: "\(value)")
        for form in ValueForm.forms(of: value) {
          columns[index].add(form, rowID: rowID, example: "\(value)")
        }
      case .real:
        let value = try row.get(at: at, as: Double.self)
        columns[index].add(.real, rowID: rowID, example: "\(value)")
        columns[index].add(.notBoolean, rowID: rowID, example: "\(value)")
      case .text:
        let forms = try row.withUnsafeBytes(at: at) { TextForms($0) }
        try columns[index].add(forms, rowID: rowID) { text in
          try text.utf8.count <= TextForms.mostJSON
            && db.value("SELECT json_valid(?)", text, as: Bool.self) ?? false
        }
      }
    }
  }
}
