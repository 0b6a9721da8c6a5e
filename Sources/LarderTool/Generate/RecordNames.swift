import Larder
import LarderTerminal

/// The names that a user has chosen for types and properties: `--names city=Town,city.pop=inhabitants`.
struct RecordNames {
  /// The types by the folded names of tables.
  private(set) var types: [[UInt8]: String] = [:]
  /// The properties by the folded names of tables and columns.
  private(set) var properties: [[UInt8]: [[UInt8]: String]] = [:]

  /// Parses the option's values. Throws ``Failure`` if one is malformed, or names no table or column.
  init(_ texts: [String], _ tables: [TableSchema]) throws {
    for text in texts {
      var rest = text[...]
      repeat { try add(&rest, of: text, tables) } while !rest.isEmpty
    }
    try Self.checkDistinct(Array(types.values), "type")
    for names in properties.values { try Self.checkDistinct(Array(names.values), "property") }
  }

  private mutating func add(
    _ rest: inout Substring, of text: String, _ tables: [TableSchema]
  ) throws {
    func failure(_ reason: String) -> Failure {
      Failure(.usage, "--names takes table=Type and table.column=property: \(reason)")
    }
    let table = try Self.name(&rest, before: ".=", failure)
    guard let known = tables.first(where: { $0.key($0.name) == $0.key(table) }) else {
      throw failure("there is no table “\(table)”")
    }
    var column: String?
    if rest.first == "." {
      rest.removeFirst()
      let name = try Self.name(&rest, before: "=", failure)
      guard known.column(name) != nil else { throw failure("“\(table)” has no column “\(name)”") }
      column = name
    }
    guard rest.popFirst() == "=" else { throw failure("there is no = in “\(text)”") }
    let chosen = String(rest.prefix { $0 != "," }).filter { $0 != "`" }
    rest = rest.drop { $0 != "," }.dropFirst()
    guard SwiftName.isIdentifier(chosen) else {
      throw failure("“\(chosen)” isn't a valid Swift name")
    }
    if let column {
      guard SwiftName.canBeMember(chosen) else {
        throw failure("a record can't have a property “\(chosen)”")
      }
      properties[known.key(known.name), default: [:]][known.key(column)] = chosen
    } else {
      guard !SwiftName.usedTypes.contains(chosen) else {
        throw failure("a record can't be called “\(chosen)”")
      }
      types[known.key(known.name)] = chosen
    }
  }

  /// Parses a name, which is in double quotes if it contains a character that would end it.
  private static func name(
    _ rest: inout Substring, before ends: String, _ failure: (String) -> Failure
  ) throws -> String {
    guard rest.first == "\"" else {
      let name = rest.prefix { !ends.contains($0) && $0 != "," }
      rest = rest.dropFirst(name.count)
      return String(name)
    }
    rest.removeFirst()
    var name = ""
    while let character = rest.popFirst() {
      guard character == "\"" else {
        name.append(character)
        continue
      }
      guard rest.first == "\"" else { return name }
      name.append(rest.removeFirst())
    }
    throw failure("a quote isn't closed")
  }

  private static func checkDistinct(_ names: [String], _ what: String) throws {
    for (name, next) in zip(names.sorted(), names.sorted().dropFirst()) where name == next {
      throw Failure(.usage, "--names has the \(what) “\(name)” twice")
    }
  }
}
