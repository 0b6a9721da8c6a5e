import LarderSQLite

/// What a fragment is written to: each does something with the text, or with the values, or with
/// both.
protocol SQLWriter {
  associatedtype Failure: Error

  /// The dialect, where it isn't SQLite's.
  var dialect: (any Dialect)? { get }
  mutating func append(_ word: StaticString)
  mutating func append(_ text: TextBytes)
  mutating func append(_ text: String)
  /// A placeholder, and the value for it.
  mutating func append(value: any DatabaseValueConvertible) throws(Failure)
  /// SQL of the program's own, with its values.
  mutating func append(sql: SQL) throws(Failure)
  /// Says that the text is not likely to come again in the same form.
  mutating func appendUnlikely()
  /// A parameter of a record's statement, for a column at this position.
  mutating func append(parameter name: String?, _ column: Int)
}

extension SQLWriter {
  /// LIMIT and OFFSET, of which one isn't nil or zero.
  mutating func append(limit: Int?, offset: Int) throws(Failure) {
    let fragment = dialect.flatMap { $0.rewrite(SQLFragment(.limit(limit, offset: offset))) }
    if let fragment { return try fragment.write(to: &self) }
    append(" LIMIT ")
    try append(value: limit ?? -1)
    guard offset > 0 else { return }
    append(" OFFSET ")
    try append(value: offset)
  }
}

/// Something that a fragment writes.
enum WritingStep {
  case word(StaticString)
  case text(TextBytes)
  case string(String)
  case value(any DatabaseValueConvertible)
  case part(SQLFragment)
  case sql(SQL)
  case type(ColumnType)
  case parameter(String?, Int)
  case limit(Int?, offset: Int)
  /// The text is not likely to come again in the same form.
  case unlikely

  func write<W: SQLWriter>(to writer: inout W) throws(W.Failure) {
    switch self {
    case .word(let word): writer.append(word)
    case .text(let text): writer.append(text)
    case .string(let text): writer.append(text)
    case .value(let value): try writer.append(value: value)
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

/// Writes SQLite's text into memory of the moment.
extension TextWriter: SQLWriter {
  typealias Failure = Never

  var dialect: (any Dialect)? { nil }
  mutating func append(value: any DatabaseValueConvertible) { appendPlaceholder() }

  mutating func append(parameter name: String?, _ column: Int) { append(name ?? "?") }
}

/// Binds the values in order.
extension ArgumentWriter: SQLWriter {
  typealias Failure = any Error

  var dialect: (any Dialect)? { nil }
  mutating func append(_ word: StaticString) {}
  mutating func append(_ text: TextBytes) {}
  mutating func append(_ text: String) {}
  mutating func append(value: any DatabaseValueConvertible) throws(any Error) { try append(value) }
  mutating func append(sql: SQL) throws(any Error) { try append(sql.values) }
  mutating func appendUnlikely() {}
  mutating func append(parameter name: String?, _ column: Int) {}
}

/// Writes text and values for reading, for logs, for tests, and for other engines.
struct SQLTextWriter: SQLWriter {
  typealias Failure = Never

  let dialect: (any Dialect)?
  private(set) var sql = SQL(raw: "")
  /// The columns of the parameters, in the order in which they are numbered: one that comes again is
  /// the same parameter.
  private(set) var columns: [Int] = []
  private var parameterCount = 0

  init(_ dialect: (any Dialect)?) { self.dialect = dialect }

  mutating func append(_ word: StaticString) {
    word.withUTF8Buffer { sql.text += String(decoding: $0, as: UTF8.self) }
  }

  mutating func append(_ text: TextBytes) { sql.text += text.string }
  mutating func append(_ text: String) { sql.text += text }

  mutating func append(value: any DatabaseValueConvertible) {
    sql.values.append(value)
    sql.text += dialect?.placeholder(sql.values.count) ?? "?"
  }

  mutating func append(sql other: SQL) {
    sql.isCacheable = sql.isCacheable && other.isCacheable
    guard let dialect, !other.values.isEmpty else {
      sql.text += other.text
      sql.values += other.values
      return
    }
    // A program's own text is the only one whose placeholders have to be looked for.
    var values = other.values[...]
    for piece in other.pieces {
      guard piece.kind == .placeholder, let value = values.popFirst() else {
        sql.text += piece.text
        continue
      }
      sql.values.append(value)
      sql.text += dialect.placeholder(sql.values.count)
    }
  }

  mutating func appendUnlikely() { sql.isCacheable = false }

  mutating func append(parameter name: String?, _ column: Int) {
    let known = columns.firstIndex(of: column)
    if known == nil { columns.append(column) }
    parameterCount += name == nil || known == nil ? 1 : 0
    let number = name == nil ? parameterCount : (known ?? columns.count - 1) + 1
    sql.text += dialect?.placeholder(number) ?? name ?? "?"
  }
}
