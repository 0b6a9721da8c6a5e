import Foundation
import Larder
import LarderTerminal
import TestSupport
import Testing

@testable import LarderTool

@Suite("The command line of larder")
struct CommandLineTests {
  @Test("larder without arguments, or with --help, lists its commands and exit statuses")
  func overview() throws {
    let tool = try Tool()
    let overview = try tool.run()
    #expect(overview.status == 0)
    for command in Program.larder.commands {
      #expect(overview.output.contains("  \(command.name) "))
    }
    #expect(overview.output.contains("130  interrupted"))
    #expect(try tool.run("--help").output == overview.output)
    #expect(try tool.run("help").output == overview.output)
  }

  @Test("Each larder command has --help with an example that starts with its name")
  @MainActor
  func help() throws {
    let tool = try Tool()
    for command in Program.larder.commands {
      let help = try tool.run(command.name, "--help")
      #expect(help.status == 0)
      #expect(help.output.contains("Example:\n  larder \(command.name) "))
      #expect(try tool.run("help", command.name).output == help.output)
      for line in help.lines where !line.hasPrefix("  --") { #expect(line.count <= 115, "\(line)") }
    }
  }

  @Test("larder --version prints the versions of Larder and SQLite")
  func version() throws {
    let result = try Tool().run("--version")
    #expect(
      result.output == "larder \(SQLiteLibrary.larderVersion), SQLite \(SQLiteLibrary.version)\n")
  }

  @Test(
    "larder exits with status 2 and a one-line error for a wrong command line",
    arguments: [
      (["fly"], "there is no command “fly”; see “larder --help”"),
      (["inspect"], "inspect takes FILE [TABLE]; see “larder inspect --help”"),
      (["inspect", "a", "--speed"], "there is no option --speed; see “larder inspect --help”"),
      (["inspect", "", "--json"], "the name of the file is empty"),
      (["query", "a", "SELECT 1", "--bind"], "--bind needs a value; see “larder query --help”"),
      (["query", "a", "SELECT 1", "--bind", "=1"], "--bind needs NAME=VALUE, not “=1”"),
      (
        ["query", "a", "SELECT ?", "1", "--bind", "a=1"],
        "give values by position or by --bind, not both"
      ),
      (["query", "a", "SELECT 1", "--csv", "--json"], "--json and --csv exclude one another"),
      (["generate", "a", "--macro", "--by-hand"], "--macro and --by-hand exclude one another"),
      (["generate", "a", "--check"], "--check needs --output, the file to be checked"),
      (["generate", "a", "--inside", "String"], "--inside: “String” can't be the name of an enum"),
      (["generate", "a", "--rows", "-1"], "--rows has to be a whole number from 0, not “-1”"),
      (["completion", "tcsh"], "there are completions for bash, zsh, fish, not “tcsh”"),
    ])
  func wrong(words: [String], message: String) throws {
    let result = try Tool().run(words)
    #expect(result.status == 2)
    #expect(result.errors == "larder: \(message)\n")
    #expect(result.output.isEmpty)
  }

  @Test("larder --wait refuses a value that isn't a number of seconds")
  func wait() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("inspect", "cities.db", "--wait", "long")
    #expect(result.status == 2 && result.errors.contains("--wait has to be a whole number from 0"))
  }

  /// The path of a shell; nil if it isn't installed.
  private static func path(of shell: Shell) -> String? {
    ["/bin/", "/usr/bin/"].map { $0 + shell.rawValue }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  @Test("The completion scripts name all commands and options")
  @MainActor
  func completions() throws {
    let tool = try Tool()
    for shell in Shell.allCases {
      let script = try tool.run("completion", shell.rawValue)
      #expect(script.status == 0)
      for command in Program.larder.commands {
        #expect(script.output.contains(command.name))
        for option in command.options { #expect(script.output.contains(option.name)) }
      }
    }
  }

  @Test(
    "An installed shell parses its completion script",
    arguments: Shell.allCases.filter { path(of: $0) != nil })
  func parsed(shell: Shell) async throws {
    let path = try #require(Self.path(of: shell))
    let tool = try Tool()
    try tool.write("script", try tool.run("completion", shell.rawValue).output.utf8)
    let check = try await ChildProcess.run(path, ["-n", tool.file("script")])
    #expect(check.status == 0, "\(check.output)")
  }

  @Test("The bash completion script completes commands and their options")
  func bash() async throws {
    let tool = try Tool()
    try tool.write("script", try tool.run("completion", "bash").output.utf8)
    func completions(_ words: String) async throws -> [String] {
      let text = """
        . '\(tool.file("script"))'; COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _larder; printf '%s\\n' "${COMPREPLY[@]}"
        """
      return try await ChildProcess.run("/bin/bash", ["-c", text]).output
        .split(separator: "\n").map(String.init)
    }
    #expect(try await completions("larder insp") == ["inspect"])
    #expect(try await completions("larder query cities.db --wr") == ["--write"])
    #expect(try await completions("larder query cities.db cit") == [])
  }
}
