/// The arguments of the attribute `@Record`.
struct RecordArguments {
  /// The source text of the table's name; nil for the type's name.
  var name: String?
  /// The source text of the record that the type is a part of; nil for a whole record.
  var whole: String?
  /// The labelled arguments in their order, which is also that of the table's initializer.
  var labelled: [(label: String, text: String)] = []
  /// Whether the arguments might say that there is no primary key.
  var mayHaveNoKey: Bool { labelled.contains { $0.label == "options" } }

  /// - `columns`: the names of the properties that are columns, by which constraints and indexes name them.
  init(_ attribute: SourceScanner, columns: [String]) throws {
    var scanner = attribute
    for argument in try scanner.attribute().arguments ?? [] {
      switch argument.label {
      case nil:
        guard scanner.text(argument.range) != "\"\"" else {
          throw SourceProblem("a table's name can't be empty", at: argument.range.lowerBound)
        }
        name = scanner.text(argument.range)
      case "of": whole = scanner.text(argument.range)
      case "options": labelled.append(("options", scanner.text(argument.range)))
      case let label?:
        labelled.append((label, try Self.naming(columns, argument.range, in: attribute.source)))
      }
    }
  }

  /// The text with `columns.name` in place of each `\.name`.
  private static func naming(
    _ columns: [String], _ range: Range<Int>, in source: SourceBytes
  ) throws -> String {
    var scanner = SourceScanner(source, at: range.lowerBound)
    var text = ""
    var copied = range.lowerBound
    while scanner.position < range.upperBound {
      let token = try scanner.next()
      guard scanner.is(token, "\\") else { continue }
      guard try scanner.skip(".") else {
        throw SourceProblem("name a property of this type: \\.name", at: token.start)
      }
      let name = try scanner.next()
      let column = columns.first { Identifier.isSame($0, scanner.text(name)) }
      guard let column, !scanner.is(try scanner.peek(), ".") else {
        throw SourceProblem(
          "the table has no column for “\(scanner.text(token.start..<name.end))”", at: token.start)
      }
      text += scanner.text(copied..<token.start) + "columns." + column
      copied = name.end
    }
    return text + scanner.text(copied..<range.upperBound)
  }
}
