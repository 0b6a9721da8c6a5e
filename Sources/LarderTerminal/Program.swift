/// A program with several commands; the first argument names one.
package struct Program: Sendable {
  package let name: String
  /// A description of the program, in a line.
  package let title: String
  /// The text that `--version` prints; nil if it hasn't been requested.
  package let version: String?
  package let commands: [Command]
  /// The options that every command takes.
  package let commonOptions: [Option]
  /// The end of the help: the exit statuses, and whatever else concerns all commands.
  package let notes: String

  package init(
    name: String, title: String, version: String? = nil, commands: [Command],
    commonOptions: [Option], notes: String
  ) {
    self.name = name
    self.title = title
    self.version = version
    self.commands = commands
    self.commonOptions = commonOptions
    self.notes = notes
  }

  /// Runs the command that the words begin with, and returns the program's exit status.
  ///
  /// - Parameter describe: makes a message for the user of an error. The invocation is nil if the command
  ///   line itself was wrong.
  @MainActor
  package func run(
    _ words: [String], describing describe: (any Error, Invocation?) -> Failure
  ) async -> Int32 {
    var invocation: Invocation?
    do {
      if let text = try answer(to: words) {
        print(text)
      } else {
        let command = try command(named: words[0])
        let called = try Invocation(Array(words.dropFirst()), for: command, of: self)
        if called.has("help") {
          print(help(for: command))
        } else {
          invocation = called
          try await command.run(called)
        }
      }
      try Output.finish()
      return 0
    } catch {
      let failure = describe(error, invocation)
      // Flushes the results first, so that they come before the error's message.
      try? Output.finish()
      if !failure.message.isEmpty { Output.note("\(name): \(failure.message.printable)") }
      return failure.status.rawValue
    }
  }

  /// The text to print (help or version) if no command is to run.
  private func answer(to words: [String]) throws -> String? {
    guard let first = words.first, !["help", "--help", "-h"].contains(first) else {
      return try words.dropFirst().first.map { help(for: try command(named: $0)) } ?? overview
    }
    return first == "--version" ? version : nil
  }

  private func command(named name: String) throws -> Command {
    if let command = commands.first(where: { $0.name == name }) { return command }
    throw Failure(.usage, "there is no command “\(name)”; see “\(self.name) --help”")
  }

  // MARK: Help

  package func help(for command: Command) -> String {
    var lines = ["\(name) \(command.usage)", "", command.summary]
    if !command.details.isEmpty { lines += ["", command.details] }
    return (lines + ["", "Options:"] + Self.lines(command.options + commonOptions))
      .joined(separator: "\n")
  }

  /// The program's help, also printed if it is called without arguments.
  package var overview: String {
    """
    \(name) COMMAND [OPTIONS]: \(title)

    \(Self.aligned(commands.map { ($0.usage, $0.summary) }).joined(separator: "\n"))

    Options of every command:
    \(Self.lines(commonOptions).joined(separator: "\n"))

    \(notes)
    """
  }

  private static func lines(_ options: [Option]) -> [String] {
    aligned(options.map { ("--" + [$0.name, $0.value ?? ""].joined(separator: " "), $0.help) })
  }

  private static func aligned(_ pairs: [(String, String)]) -> [String] {
    let width = pairs.map(\.0.displayWidth).max() ?? 0
    return pairs.map { "  \($0.0.padded(to: width))  \($0.1)" }
  }
}
