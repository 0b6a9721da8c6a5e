import Larder
import LarderTerminal

extension Command {
  static let backup = Command(
    name: "backup", arguments: "FILE", argumentCount: 1...1,
    summary:
      "Copies the database into a file while others may use it (pg_dump does it for a server's)."
  ) { invocation in
    let copy = invocation.arguments[0]
    if copy.isEmpty { throw Failure(.usage, "backup needs the name of a file") }
    let location = try DatabaseLocation(invocation)
    if location.isServer { throw Failure(.usage, "backup is for files; a server has pg_dump") }
    let queue = try location.openForReading()
    var bar = ProgressBar("backup")
    var pages = 0
    do {
      try queue.inDatabase { db in
        try db.backup(to: copy) { remaining, total in
          pages = total
          bar.show(1 - Double(remaining) / Double(max(1, total)))
        }
      }
    } catch {
      bar.clear()
      throw Failure(.database, Failure(describing: error, database: copy).message)
    }
    bar.clear()
    try Output.show([Copied(file: copy, pages: pages)], asJSON: invocation.wantsJSON) { copies in
      var table = TextTable("FILE", "PAGES", numbers: [1])
      for copy in copies { table.add(copy.file, copy.pages.grouped) }
      return table
    }
  }
}

private struct Copied: Encodable {
  let file: String
  let pages: Int
}
