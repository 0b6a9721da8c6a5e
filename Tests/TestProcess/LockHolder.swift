import LarderSQLite
import TestSupport

/// Holds the lock for writing until the parent says to go on.
enum LockHolder {
  static func run(path: String) throws {
    let db = try Database(path: path)
    try db.begin()
    Parent.tell("held")
    Parent.wait()
    try db.rollback()
  }
}
