import Larder

extension Command {
  /// All of them, as the help lists them.
  static let all: [Command] = [
    .import, .search, .children, .path, .top, .nearest, .stats, .add, .edit, .remove,
    .upgrade, .sql, .backup, .serveLoad,
  ]

  /// Runs the command that the words begin with, and returns the program's exit status.
  @MainActor
  static func main(_ words: [String]) async -> Int32 {
    var path = ""
    do {
      guard let first = words.first, !["help", "--help", "-h"].contains(first) else {
        print(try help(words.dropFirst().first))
        return 0
      }
      let command = try named(first)
      let invocation = try Invocation(Array(words.dropFirst()), for: command)
      if invocation.has("help") {
        print(command.help)
        return 0
      }
      path = try DatabaseFile(invocation).path
      try await command.run(invocation)
      return 0
    } catch {
      let failure = Failure(describing: error, database: path)
      Output.note("gazetteer: \(failure.message)")
      return failure.status.rawValue
    }
  }

  private static func help(_ name: String?) throws -> String {
    try name.map { try named($0).help } ?? overview
  }

  private static func named(_ name: String) throws -> Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    throw Failure(.usage, "there is no command “\(name)”; see “gazetteer --help”")
  }
}
