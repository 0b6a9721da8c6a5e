import LarderTerminal

extension Program {
  /// The program, with its commands as the help lists them.
  static let gazetteer = Program(
    name: "gazetteer", title: "the world's cities and China's divisions, kept by Larder",
    commands: [
      .import, .search, .children, .path, .top, .nearest, .stats, .add, .edit, .remove,
      .upgrade, .sql, .backup, .serveLoad, .watch,
    ],
    commonOptions: [
      Option(
        "database", "FILE",
        "the database, or a server's: postgres://USER@HOST/NAME; "
          + "\(DatabaseLocation.defaultDescription) if not given"),
      Option("json", nil, "print an array of JSON objects"),
      Option("wait", "SECONDS", "how long to wait for other programs that write (5; a server: 30)"),
      Option("max-pages", "N", "let the file have no more pages than this"),
      Option("help", nil, "explain the command"),
    ],
    notes: """
      Exit status:
        0    done
        1    something that was named isn't there, or a line of a file is bad
        2    the command line is wrong
        3    the database can't be opened, read or written
        130  interrupted

      In JSON, what isn't known is left out.
      """)
}
