import Larder

extension Command {
  /// All of them, as the help lists them.
  static let all: [Command] = [
    .import, .search, .children, .path, .top, .nearest, .stats, .add, .edit, .remove,
    .upgrade, .sql, .backup, .serveLoad, .watch,
  ]

  /// Runs the command that the words begin with, and returns the program's exit status.
  @MainActor
  static func main(_ words: [String]) async -> Int32 {
    var path = ""
    do {
      try await run(words, &path)
      try Output.finish()
      return 0
    } catch {
      let failure = Failure(describing: error, database: path)
      Output.note("gazetteer: \(failure.message)")
      return failure.status.rawValue
    }
  }

  @MainActor
  private static func run(_ words: [String], _ path: inout String) async throws {
    guard let first = words.first, !["help", "--help", "-h"].contains(first) else {
      return print(try help(words.dropFirst().first))
    }
    let command = try named(first)
    let invocation = try Invocation(Array(words.dropFirst()), for: command)
    if invocation.has("help") { return print(command.help) }
    path = try DatabaseLocation(invocation).name
    try await command.run(invocation)
  }

  private static func help(_ name: String?) throws -> String {
    try name.map { try named($0).help } ?? overview
  }

  private static func named(_ name: String) throws -> Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    throw Failure(.usage, "there is no command “\(name)”; see “gazetteer --help”")
  }
}
