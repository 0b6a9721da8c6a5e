/// Something that is measured by itself, not by anything else.
protocol FigureBenchmark: Sendable {
  var name: String { get }
  func measure(path: String, seconds: Double) throws -> Figures
}

/// A row of figures, each with a name that says its unit.
struct Figures: Encodable {
  let name: String
  let values: [(name: String, value: Double)]

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: Key("name"))
    try container.encode(Storage.wal, forKey: Key("storage"))
    for (name, value) in values { try container.encode(value, forKey: Key(name)) }
  }

  var line: String {
    Table.left(name, 20)
      + values.map { "\($0.name) \(Table.number($0.value, 3))" }.joined(separator: ", ")
  }
}
