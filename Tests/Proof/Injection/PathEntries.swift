import Foundation
import Larder
import ProofSupport
import TestSupport

// What lies outside of the database: files, ways to reach them, and migrations, which have their own.

extension InjectionEntry {
  static func paths(in folder: String) -> [InjectionEntry] {
    [
      InjectionEntry("path of a database", isAlone: true) { _, text in
        let text = text.replacing("/", with: "|")
        let path = folder + "/" + text
        defer { try? ScratchFolder.empty(folder) }
        let db = try Database(path: path)
        try db.executeUpdate("CREATE TABLE t (x)")
        try db.close()
        try isAlone(text, in: folder)
      },
      InjectionEntry("path of a backup", isAlone: true) { db, text in
        let text = text.replacing("/", with: "|")
        let path = folder + "/" + text
        defer { try? ScratchFolder.empty(folder) }
        try db.backup(to: path)
        try isAlone(text, in: folder)
        let other = try Database()
        try other.restore(from: path)
        try WrongAnswer.check(
          try InjectedTown.all.fetchCount(other), 1, "the number of rows restored")
      },
      InjectionEntry("VFS", isAlone: true) { _, text in
        var configuration = Configuration()
        configuration.vfs = text
        try Database(configuration: configuration).close()
      },
      InjectionEntry("migration", isAlone: true) { _, text in
        let db = try Database()
        let migrator = Migrator([
          Migration("first", sql: "CREATE TABLE a (x)", down: "DROP TABLE a"),
          Migration(text, sql: "CREATE TABLE b (x)", down: "DROP TABLE b"),
        ])
        try migrator.migrate(db)
        try WrongAnswer.check(try migrator.applied(db).last?.name, text, text: "the migration")
        try migrator.migrate(db, downTo: "first")
        try WrongAnswer.check(try db.tableExists("b"), false, "whether it is still applied")
        try WrongAnswer.check(try migrator.pending(db).first, text, text: "what is pending")
        try WrongAnswer.expectError("undoing to what isn't applied") {
          try migrator.migrate(db, downTo: text)
        }
      },
    ]
  }

  /// The one file that was made has that very name.
  private static func isAlone(_ text: String, in folder: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    try WrongAnswer.check(names.count, 1, "the number of files")
    try WrongAnswer.check(names.first, text, text: "the file's name")
  }
}
