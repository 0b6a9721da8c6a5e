import LarderBackup
import Foundation
import Larder
import TestSupport

/// Pays from a pool that is copied again and again, until it is killed, and writes the path of each copy.
enum Copying {
  static func run(path: String, folder: String) throws {
    let pool = try DatabasePool(path: path)
    try pool.inTransaction { try Payments.createTables($0) }
    let last = try pool.read { try $0.value("SELECT max(id) FROM payment", as: Int?.self) }
    let payments = Payments(from: ((last ?? nil) ?? 0) + 1)
    Thread.detachNewThread {
      while true { try? pool.inTransaction { try Payments.insert($0, payments.take()) } }
    }
    let backup = try pool.backup(every: .milliseconds(1), to: folder, keeping: 5)
    while true { Parent.tell(try backup.backup().path) }
  }
}
