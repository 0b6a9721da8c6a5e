import Foundation
import Larder
import Testing

@Suite("Errors of the gazetteer")
struct TroubleTests {
  @Test("gazetteer top exits with status 3 for a missing database, and doesn't create it")
  func missing() throws {
    let gazetteer = try Gazetteer()
    let result = try gazetteer.run("top")
    #expect(result.status == 3)
    #expect(
      result.errors
        == "gazetteer: \(gazetteer.database): there is no database here; “gazetteer import” makes one\n"
    )
    #expect(!FileManager.default.fileExists(atPath: gazetteer.database))
  }

  @Test("gazetteer refuses a file that isn't a database, and a database without a gazetteer")
  func somethingElse() throws {
    let gazetteer = try Gazetteer()
    try gazetteer.write("gazetteer.db", String(repeating: "This is a letter. ", count: 100))
    #expect(try gazetteer.run("top").errors.hasSuffix("this isn't a database\n"))
    try FileManager.default.removeItem(atPath: gazetteer.database)
    try gazetteer.open().executeUpdate("CREATE TABLE letter (text TEXT)")
    for command in ["top", "import", "upgrade"] {
      let result = try gazetteer.run(command)
      #expect(result.status == 3 && result.errors.contains("there is no gazetteer in it"))
    }
    #expect(try gazetteer.open().schema().map(\.name) == ["letter"])
  }

  @Test("gazetteer exits with status 3 for a locked database after --wait 0, but still reads it")
  func locked() throws {
    let gazetteer = try Gazetteer.imported()
    let other = try gazetteer.open()
    try other.begin(.immediate)
    let result = try gazetteer.run("remove", "3143244", "--wait", "0")
    #expect(result.status == 3)
    #expect(result.errors.contains("another program is writing to the database"))
    #expect(try gazetteer.run("import", "cities.csv", "--wait", "0").status == 3)
    #expect(try gazetteer.run("top", "--wait", "0").status == 0)
    try other.rollback()
    #expect(try gazetteer.run("remove", "3143244", "--wait", "0").status == 0)
  }

  @Test("gazetteer reads a read-only database, and refuses to write it")
  func readOnly() throws {
    let gazetteer = try Gazetteer.imported()
    // A write version that SQLite doesn't know makes it read-only. File permissions don't bind root.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: gazetteer.database))
    try file.seek(toOffset: 18)
    try file.write(contentsOf: Data([3]))
    try file.close()
    let result = try gazetteer.run("remove", "3143244")
    #expect(result.status == 3)
    #expect(result.errors.hasSuffix("the database can only be read\n"), "\(result.errors)")
    #expect(try gazetteer.run("top").status == 0)
  }

  @Test("gazetteer import on a full disk is rolled back, and leaves the database intact")
  func full() throws {
    let gazetteer = try Gazetteer.imported()
    let result = try gazetteer.run("import", "--max-pages", "60")
    #expect(result.status == 3)
    #expect(result.errors.hasSuffix("is full\n"), "\(result.errors)")
    #expect(result.output.isEmpty)
    #expect(try gazetteer.count("city") == 10)
    #expect(try gazetteer.open().value("PRAGMA integrity_check", as: String.self) == "ok")
    #expect(try gazetteer.run("import").status == 0)
  }

  @Test(
    "gazetteer exits with status 2 and a one-line error for a wrong command line",
    arguments: [
      (["fly"], "there is no command “fly”; see “gazetteer --help”"),
      (["top", "--speed"], "there is no option --speed; see “gazetteer top --help”"),
      (["top", "-x"], "there is no option -x; see “gazetteer top --help”"),
      (["top", "Oslo"], "top takes no arguments; see “gazetteer top --help”"),
      (["path"], "path takes CODE; see “gazetteer path --help”"),
      (["top", "--json=yes"], "--json takes no value; see “gazetteer top --help”"),
      (
        ["top", "--limit", "many"], "--limit has to be a whole number from 1 to 1000000, not “many”"
      ),
      (["top", "--limit=0"], "--limit has to be a whole number from 1 to 1000000, not “0”"),
      (["nearest", "91", "0"], "LAT has to be a number from -90.0 to 90.0, not “91”"),
      (["nearest", "0", "nan"], "LON has to be a number from -180.0 to 180.0, not “nan”"),
      (
        ["edit", "3143244", "--population", "9223372036854775807"],
        "--population has to be a whole number from 0 to 100000000000, not “9223372036854775807”"
      ),
      (["backup", ""], "backup needs the name of a file"),
      (
        ["search", String(repeating: "Oslo", count: 20_000)],
        "search takes a text of no more than 1,000 bytes"
      ),
    ])
  func commandLine(arguments: [String], message: String) throws {
    let result = try Gazetteer.imported().start(arguments).end()
    #expect(result.status == 2)
    #expect(result.errors == "gazetteer: \(message)\n")
    #expect(result.output.isEmpty)
  }

  @Test("gazetteer refuses an option at the end of the line without its value")
  func optionWithoutValue() throws {
    let gazetteer = try Gazetteer()
    let result = try Run(["top", "--limit"], in: gazetteer).end()
    #expect(result.status == 2 && result.errors.contains("--limit needs a value"))
    #expect(try Run(["import", "--database", ""], in: gazetteer).end().status == 2)
  }

  @Test("gazetteer --help lists all commands, and each command has --help")
  func help() throws {
    let gazetteer = try Gazetteer()
    let overview = try Run(["--help"], in: gazetteer).end()
    #expect(overview.status == 0 && overview.output.contains("Exit status:"))
    #expect(try Run([], in: gazetteer).end().output == overview.output)
    for command in [
      "import", "search", "children", "path", "top", "nearest", "stats", "add", "edit", "remove",
      "upgrade", "sql", "backup", "serve-load",
    ] {
      #expect(overview.output.contains("  \(command) "))
      let help = try Run([command, "--help"], in: gazetteer).end()
      #expect(help.status == 0 && help.output.hasPrefix("gazetteer \(command)"))
      #expect(try Run(["help", command], in: gazetteer).end().output == help.output)
    }
  }

  @Test("gazetteer exits with status 1 if its output can't be written")
  func fullOutput() throws {
    let gazetteer = try Gazetteer.imported()
    let database = ["--database", gazetteer.database]
    for words in [["help"], ["stats", "--help"], ["stats"] + database, ["sql"] + database] {
      let result = try Run(words, in: gazetteer, isOutputFull: true).end()
      #expect(result.status == 1)
      #expect(result.errors == "gazetteer: the output could not be written\n")
    }
  }

  @Test("gazetteer replaces control characters in printed names")
  func controlCharacters() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(try gazetteer.run("edit", "3143244", "--name", "Os\u{1B}[31mlo\n").status == 0)
    let top = try gazetteer.run("top", "--country", "NO")
    #expect(top.lines.last == "1  3143244     580,000  Os\u{FFFD}[31mlo\u{FFFD}  Norway")
  }
}
