import Foundation
import LarderSQLite
import TestSupport

/// Writes to a database while the permission to search its folder is taken away, and once it is given back.
enum Unsearchable {
  static func run(folder: String) throws {
    let home = folder + "/unsearchable"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    // Nothing is hidden from root.
    let nobody: uid_t = 65534
    if getuid() == 0 {
      guard chown(home, nobody, nobody) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else {
        return Parent.tell("can't become another user: \(String(cString: strerror(errno)))")
      }
    }
    let pool = try DatabasePool(path: home + "/cities.db")
    try pool.inTransaction { try $0.executeUpdate("CREATE TABLE city (name)") }
    chmod(home, 0)
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('Oslo')") }
    Parent.tell("written")
    chmod(home, 0o700)
    try pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('Lagos')") }
    try pool.close()
    let count = try Database(path: home + "/cities.db")
      .value("SELECT count(*) FROM city", as: Int.self)
    Parent.tell(count == 2 ? "written again" : "\(count ?? 0) rows")
  }
}
