/// Something that the program can be asked for.
struct Command: Sendable {
  let name: String
  /// The arguments as they stand in the help.
  var arguments = ""
  /// How many of them there may be.
  var argumentCount = 0...0
  let summary: String
  /// More about it, for its own help.
  var details = ""
  var options: [Option] = []
  let run: @MainActor @Sendable (Invocation) async throws -> Void

  /// What `--help` prints.
  var help: String {
    var lines = ["gazetteer \([name, arguments].filter { !$0.isEmpty }.joined(separator: " "))"]
    lines += ["", summary]
    if !details.isEmpty { lines += ["", details] }
    return (lines + ["", "Options:"] + Self.lines(options + Option.common)).joined(separator: "\n")
  }

  private static func lines(_ options: [Option]) -> [String] {
    aligned(options.map { ("--" + [$0.name, $0.value ?? ""].joined(separator: " "), $0.help) })
  }

  private static func aligned(_ pairs: [(String, String)]) -> [String] {
    let width = pairs.map(\.0.displayWidth).max() ?? 0
    return pairs.map { "  \($0.0.padded(to: width))  \($0.1)" }
  }

  /// What the program prints when it isn't asked for anything.
  static var overview: String {
    let commands = all.map {
      ([$0.name, $0.arguments].filter { !$0.isEmpty }.joined(separator: " "), $0.summary)
    }
    return """
      gazetteer COMMAND [OPTIONS]: the world's cities and China's divisions, kept by Larder

      \(aligned(commands).joined(separator: "\n"))

      Options of every command:
      \(lines(Option.common).joined(separator: "\n"))

      Exit status:
        0    done
        1    something that was named isn't there, or a line of a file is bad
        2    the command line is wrong
        3    the database can't be opened, read or written
        130  interrupted

      In JSON, what isn't known is left out.
      """
  }
}
