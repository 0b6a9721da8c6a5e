import Glibc
import Larder
import LarderTerminal

extension Program {
  static let larder = Program(
    name: "larder", title: "inspects SQLite databases, and works on them",
    version: "larder \(SQLiteLibrary.larderVersion), SQLite \(SQLiteLibrary.version)",
    commands: commands,
    commonOptions: [
      Option("json", nil, "print JSON, for programs"),
      Option("wait", "SECONDS", "how long to wait for other programs that write (5)"),
      Option(
        "untrusted", nil,
        "treat the file as hostile: check all of it first, run no view or trigger, limit all work"),
      Option("help", nil, "explain the command"),
    ],
    notes: """
      Files are only read, and stay as they are, unless a command's summary says that it writes.

      Exit status:
        0    done
        1    something that was named doesn't exist, or a check has found something
        2    the command line, or the SQL on it, is wrong
        3    the file can't be opened, read or written, or is damaged
        130  interrupted

      “larder COMMAND --help” explains a command, with an example. “larder --version” prints the versions.
      """)

  private static let commands: [Command] = [
    .inspect, .browse, .check, .query, .explain, .schema, .generate, .diff, .diagram, .export,
    .import,
    .backup, .restore, .log, .verifyLog, .vacuum, .optimize, .changes, .migrate, .copy, .jobs,
    .completion,
  ]
}

/// Runs the program, and returns its exit status.
@MainActor
func runLarder(_ words: [String]) async -> Int32 {
  // A closed pipe must not kill the program, which may have temporary files to remove.
  signal(SIGPIPE, SIG_IGN)
  return await Program.larder.run(words) { error, invocation in
    failure(error, database: invocation?.arguments.first ?? "").withoutSecrets(of: words)
  }
}

/// Describes an error to the program's user.
private func failure(_ error: any Error, database: String) -> Failure {
  switch error {
  case let failure as Failure: failure
  case let error as DatabaseError: Failure(describing: error, database: database)
  case let error as SchemaError: Failure("\(error)")
  default: Failure(.database, "\(error)")
  }
}
