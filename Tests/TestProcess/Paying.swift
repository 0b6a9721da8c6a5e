import Foundation
import LarderSQLite
import TestSupport

/// Pays from 8 threads until it is killed, and writes the number of each payment that is acknowledged.
enum Paying {
  static func run(path: String, from first: Int) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.inTransaction { try Payments.createTables($0) }
    let payments = Payments(from: first)
    for _ in 0..<8 {
      Thread.detachNewThread {
        while true {
          let id = payments.take()
          do {
            try queue.inTransaction { try Payments.insert($0, id) }
            Parent.tell(String(id))
          } catch {
            Parent.tell("error: \(error)")
          }
        }
      }
    }
    while true { pause() }
  }
}
