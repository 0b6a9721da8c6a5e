import LarderSQLite

/// A destination for fragments. Each writer uses the text, the values, or both.
protocol SQLWriter {
  associatedtype Failure: Error

  /// Whether the writer has a dialect, as one for another engine than SQLite has. It is a constant, so that
  /// the compiler needn't make an Optional to find out.
  static var hasDialect: Bool { get }
  var dialect: (any Dialect)? { get }
  /// The dialect's replacement of a fragment; nil if there is none.
  func rewritten(_ fragment: SQLFragment) -> SQLFragment?
  mutating func append(word: StaticString)
  /// Text in UTF-8.
  mutating func append(_ bytes: LentBytes)
  mutating func append(_ text: String)
  /// A placeholder, and the value for it.
  mutating func append(value: any DatabaseValueConvertible) throws(Failure)
  /// A placeholder and its value, with the text that tells the engine its type.
  mutating func append(value: any DatabaseValueConvertible, as type: String) throws(Failure)
  /// A placeholder and its value, beside a column that may tell its type, or assigned to it.
  mutating func append(
    value: any DatabaseValueConvertible, beside column: SQLFragment, _ operation: SQLOperator
  ) throws(Failure)
  /// SQL of the program's own, with its values.
  mutating func append(sql: SQL) throws(Failure)
  /// Marks the text as unlikely to come again in the same form.
  mutating func appendUnlikely()
  /// A parameter of a record's statement, for a column at this position.
  mutating func append(parameter name: String?, _ column: Int)
  /// Notes that the name of a declared table was written.
  mutating func note(table: SQLFragment)
}

extension SQLWriter {
  static var hasDialect: Bool { false }
  var dialect: (any Dialect)? { nil }
  func rewritten(_ fragment: SQLFragment) -> SQLFragment? { nil }
  mutating func note(table: SQLFragment) {}

  /// A condition as the dialect writes it.
  func conditionally(_ fragment: SQLFragment) -> SQLFragment {
    dialect?.condition(fragment) ?? fragment
  }

  mutating func append(value: any DatabaseValueConvertible, as type: String) throws(Failure) {
    try append(value: value)
    append(type)
  }

  mutating func append(
    value: any DatabaseValueConvertible, beside column: SQLFragment, _ operation: SQLOperator
  ) throws(Failure) {
    try append(value: value)
  }

  /// LIMIT and OFFSET, at least one of which limits the rows.
  mutating func append(limit: Int?, offset: Int) throws(Failure) {
    if Self.hasDialect,
      let fragment = rewritten(SQLFragment(.limit(limit, offset: offset)))
    {
      return try fragment.write(to: &self)
    }
    append(word: " LIMIT ")
    try append(value: limit ?? -1)
    guard offset > 0 else { return }
    append(word: " OFFSET ")
    try append(value: offset)
  }
}

/// A step of writing a fragment.
enum WritingStep {
  case word(StaticString)
  case text(TextBytes)
  case string(String)
  case value(any DatabaseValueConvertible)
  case typed(any DatabaseValueConvertible, String)
  case beside(any DatabaseValueConvertible, SQLFragment)
  case part(SQLFragment)
  case sql(SQL)
  case type(ColumnType)
  case parameter(String?, Int)
  case limit(Int?, offset: Int)
  /// A mark: the text is unlikely to come again in the same form.
  case unlikely

  func write<W: SQLWriter>(to writer: inout W) throws(W.Failure) {
    switch self {
    case .word(let word): writer.append(word: word)
    case .text(let text): writer.append(text.bytes)
    case .string(let text): writer.append(text)
    case .value(let value): try writer.append(value: value)
    case .typed(let value, let type): try writer.append(value: value, as: type)
    case .beside(let value, let column): try writer.append(value: value, beside: column, .in)
    case .part(let part): try part.write(to: &writer)
    case .sql(let sql): try writer.append(sql: sql)
    case .type(let type):
      writer.append(writer.dialect?.typeName(of: type) ?? type.name)
    case .parameter(let name, let column): writer.append(parameter: name, column)
    case .limit(let limit, let offset): try writer.append(limit: limit, offset: offset)
    case .unlikely: writer.appendUnlikely()
    }
  }
}

/// Writes SQLite's text into temporary memory.
extension TextWriter: SQLWriter {
  typealias Failure = Never

  mutating func append(value: any DatabaseValueConvertible) { appendPlaceholder() }

  mutating func append(parameter name: String?, _ column: Int) { append(name ?? "?") }

  @inline(__always)
  mutating func note(table: SQLFragment) { note(table: table.tableNumber) }
}

/// Binds the values in order.
extension ArgumentWriter: SQLWriter {
  typealias Failure = any Error

  mutating func append(word: StaticString) {}
  mutating func append(_ bytes: LentBytes) {}
  mutating func append(_ text: String) {}
  mutating func append(value: any DatabaseValueConvertible) throws(any Error) {
    try append(value)
  }
  mutating func append(sql: SQL) throws(any Error) { try append(sql.values) }
  mutating func appendUnlikely() {}
  mutating func append(parameter name: String?, _ column: Int) {}
}

/// Writes SQLite's text into temporary memory, and keeps the values and the
/// columns of a record's parameters, each column once.
struct SQLCollector: SQLWriter {
  typealias Failure = Never

  fileprivate var text: TextWriter
  fileprivate var values: [(any DatabaseValueConvertible)?] = []
  fileprivate var columns: [Int] = []

  fileprivate init(_ text: TextWriter) {
    self.text = text
    values.reserveCapacity(4)
  }

  mutating func append(word: StaticString) { text.append(word: word) }
  mutating func append(_ bytes: LentBytes) { text.append(bytes) }
  mutating func append(_ string: String) { text.append(string) }

  @inline(__always)
  mutating func append(value: any DatabaseValueConvertible) {
    values.append(value)
    text.appendPlaceholder()
  }

  mutating func append(sql: SQL) {
    values += sql.values
    text.append(sql: sql)
  }

  mutating func appendUnlikely() { text.appendUnlikely() }

  mutating func append(parameter name: String?, _ column: Int) {
    if !columns.contains(column) { columns.append(column) }
    text.append(name ?? "?")
  }
}

extension SQL {
  /// SQL that a closure writes for SQLite.
  init(_ write: (inout SQLCollector) -> Void) { self = Self.collected(write).sql }

  /// SQL that a closure writes for another engine.
  init(in dialect: any Dialect, _ write: (inout DialectWriter) -> Void) {
    self = Self.collected(in: dialect, write).sql
  }

  fileprivate static func collected(
    in dialect: any Dialect, _ write: (inout DialectWriter) -> Void
  ) -> (sql: SQL, columns: [Int]) {
    var values: [(any DatabaseValueConvertible)?] = []
    var columns: [Int] = []
    var sql = TextWriter.sql { text in
      var writer = DialectWriter(dialect, text)
      write(&writer)
      (text, values, columns) = (writer.text, writer.values, writer.columns)
    }
    sql.values = values
    return (sql, columns)
  }

  /// SQL for SQLite, and the positions of the parameters' columns, in the order in which SQLite numbers the
  /// parameters. A repeated name is the same parameter.
  fileprivate static func collected(
    _ write: (inout SQLCollector) -> Void
  ) -> (sql: SQL, columns: [Int]) {
    var values: [(any DatabaseValueConvertible)?] = []
    var columns: [Int] = []
    var sql = TextWriter.sql { writer in
      var collector = SQLCollector(writer)
      write(&collector)
      writer = collector.text
      (values, columns) = (collector.values, collector.columns)
    }
    sql.values = values
    return (sql, columns)
  }
}

extension SQLFragment {
  /// The text and the values, for SQLite or another engine.
  package func sql(in dialect: (any Dialect)? = nil) -> SQL {
    guard let dialect else { return SQL { write(to: &$0) } }
    return SQL(in: dialect) { write(to: &$0) }
  }

  @usableFromInline var sql: SQL { sql() }

  /// The text, its values, and the positions of the columns that its parameters stand for, each once.
  func statement(
    in dialect: (any Dialect)?
  ) -> (text: String, values: [(any DatabaseValueConvertible)?], columns: [Int]) {
    let (sql, columns) =
      if let dialect {
        SQL.collected(in: dialect) { write(to: &$0) }
      } else {
        SQL.collected { write(to: &$0) }
      }
    return (sql.text, sql.values, columns)
  }
}

/// Writes text in a dialect into temporary memory, and keeps the values.
struct DialectWriter: SQLWriter {
  typealias Failure = Never

  static var hasDialect: Bool { true }
  private let ownDialect: any Dialect
  var dialect: (any Dialect)? { ownDialect }
  private(set) var text: TextWriter
  private(set) var values: [(any DatabaseValueConvertible)?] = []
  /// The column whose type a value has, by the value's position.
  private var besides: [Int: SQLFragment] = [:]
  /// The columns of the parameters so far, in the order in which they are numbered.
  fileprivate var columns: [Int] = []
  private var parameterCount = 0

  init(_ dialect: any Dialect, _ text: TextWriter) {
    ownDialect = dialect
    self.text = text
    values.reserveCapacity(4)
  }

  func rewritten(_ fragment: SQLFragment) -> SQLFragment? { ownDialect.rewrite(fragment) }

  mutating func append(word: StaticString) { text.append(word: word) }
  mutating func append(_ bytes: LentBytes) { text.append(bytes) }
  mutating func append(_ string: String) { text.append(string) }

  mutating func append(value: any DatabaseValueConvertible) {
    if let opening = ownDialect.opening(of: value) { text.append(word: opening) }
    appendPlaceholder(of: value)
    if let type = ownDialect.type(of: value) { text.append(word: type) }
  }

  mutating func append(
    value: any DatabaseValueConvertible, beside column: SQLFragment, _ operation: SQLOperator
  ) {
    guard ownDialect.takesType(of: column, operation, value) else { return append(value: value) }
    appendPlaceholder(of: value, beside: column)
  }

  mutating func append(value: any DatabaseValueConvertible, as type: String) {
    appendPlaceholder(of: value)
    text.append(type)
  }

  private mutating func appendPlaceholder(
    of value: any DatabaseValueConvertible, beside column: SQLFragment? = nil
  ) {
    if ownDialect.reusesPlaceholders, !values.isEmpty, let known = number(of: value, column) {
      text.append(ownDialect.placeholder(parameterCount + known))
    } else {
      if let column { besides[values.count] = column }
      appendNew(value)
    }
  }

  private mutating func appendNew(_ value: (any DatabaseValueConvertible)?) {
    values.append(value)
    text.countValue()
    text.append(ownDialect.placeholder(parameterCount + values.count))
  }

  /// The number of an earlier parameter for the same value, of the same type and beside the same column, if
  /// the type says how it is stored. Long lists aren't searched, since they rarely repeat a value.
  private func number(
    of value: any DatabaseValueConvertible, _ column: SQLFragment?
  ) -> Int? {
    guard values.count < 64, type(of: value).columnType.kind != .any else { return nil }
    return values.indices.first { index in
      guard let other = values[index], type(of: other) == type(of: value),
        besides[index]?.words == column?.words, let stored = try? value.databaseValue
      else { return false }
      return (try? other.databaseValue)?.isSame(as: stored) ?? false
    }.map { $0 + 1 }
  }

  mutating func append(sql: SQL) {
    if !sql.isCacheable { text.appendUnlikely() }
    guard !sql.values.isEmpty else {
      append(sql.text)
      return
    }
    // Only a program's own text has placeholders that have to be searched for.
    var rest = sql.values[...]
    for piece in sql.pieces {
      guard piece.kind == .placeholder, let value = rest.popFirst() else {
        append(piece.text)
        continue
      }
      appendNew(value)
    }
  }

  mutating func appendUnlikely() { text.appendUnlikely() }

  mutating func note(table: SQLFragment) { text.note(table: table.tableNumber) }

  mutating func append(parameter name: String?, _ column: Int) {
    let known = columns.firstIndex(of: column)
    if known == nil { columns.append(column) }
    parameterCount += name == nil || known == nil ? 1 : 0
    let number = name == nil ? parameterCount : (known ?? columns.count - 1) + 1
    append(ownDialect.placeholder(number))
  }
}
