import Larder
import LarderTerminal

extension Command {
  static let children = Command(
    name: "children", arguments: "CODE", argumentCount: 1...1,
    summary: "Lists what belongs to a province or city of China.",
    options: [Option("all", nil, "list what belongs to those too, indented")]
  ) { invocation in
    let code = try divisionCode(invocation)
    let queue = try DatabaseLocation(invocation).openForReading()
    let divisions = try queue.read { db in
      let division = try Division.find(db, code)
      return try (invocation.has("all") ? division.below : division.children).fetchAll(db)
    }
    let top = Division.path(to: code).count
    try show(divisions, invocation) { Division.path(to: $0.code).count - top - 1 }
  }

  static let path = Command(
    name: "path", arguments: "CODE", argumentCount: 1...1,
    summary: "Lists the divisions that one of China belongs to, from its province down."
  ) { invocation in
    let code = try divisionCode(invocation)
    let queue = try DatabaseLocation(invocation).openForReading()
    let divisions = try queue.read { db in
      _ = try Division.find(db, code)
      return try Division.fetchAll(db, keys: Division.path(to: code)).sorted { $0.code < $1.code }
    }
    try show(divisions, invocation) { Division.path(to: $0.code).count - 1 }
  }

  private static func divisionCode(_ invocation: Invocation) throws -> Int {
    guard let code = Int(invocation.arguments[0]) else {
      throw Failure("a division's code has six digits, unlike “\(invocation.arguments[0])”")
    }
    return code
  }

  private static func show(
    _ divisions: [Division], _ invocation: Invocation, depth: (Division) -> Int
  ) throws {
    try Output.show(divisions, asJSON: invocation.wantsJSON) { divisions in
      var table = TextTable("CODE", "NAME", "LEVEL", "LATITUDE", "LONGITUDE", numbers: [3, 4])
      for division in divisions {
        table.add(
          "\(division.code)", String(repeating: "  ", count: depth(division)) + division.name,
          division.level.rawValue, division.latitude?.fixed(4) ?? "",
          division.longitude?.fixed(4) ?? "")
      }
      return table
    }
  }
}
