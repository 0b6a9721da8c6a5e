import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Observers that come and go by the thousand: memory and descriptors are where they were.
enum ComingAndGoing {
  static func run(
    _ path: String, times: Int, _ ledger: ObservationRow.Ledger
  ) async throws -> [String] {
    let pool = try DatabasePool(path: path, configuration: ObservedWriting.configuration)
    try await pool.inTransaction(.immediate, ObservedWriting.createTables)
    openReaders(of: pool, ObservedWriting.configuration.maximumReaders)
    // So does the connection that moves the log into the file, once it is long, as it was after a thousand rounds: two
    // descriptors, for the file and its log.
    try pool.checkpoint(.truncate)
    // And the watcher of moves begins a second after the pool was opened.
    for _ in 0..<500 where ProcessUsage().watches == 0 {
      try await Task.sleep(for: .milliseconds(10))
    }
    let observers = times < 100 ? 100 : 1000
    // In the first half threads come and fill the caches that they have of the allocator, which counts what is in them as
    // used: 552 KiB more after 100 rounds than after 5, 761 after 400 and 719 after 1000, where a leak would go on.
    for _ in 0..<(times / 2) { try await round(observers, pool) }
    let before = await usage(atMost: nil)
    for _ in times / 2..<times { try await round(observers, pool) }
    let kept = ProcessUsage().resident
    let after = await usage(atMost: before)
    let new = after.files.filter { before.files[$0.key] != $0.value }.values.sorted()
    if after.files.count > before.files.count {
      ledger.fail("\(before.files.count) descriptors before, \(after.files.count) after: \(new)")
    }
    // It doesn't grow with the observers: 240 KiB more after 100,000 of the second half, 251 after 500,000. A byte for
    // each would be 488.
    if after.heap > before.heap + 400 << 10 {
      ledger.fail("\(before.heap) bytes in use before, \(after.heap) after")
    }
    if !ProcessUsage.isSanitized, after.resident > before.resident + 8 << 20 {
      ledger.fail("\(before.resident) resident bytes before, \(after.resident) after")
    }
    try await pool.close()
    return [
      "\(observers) observers came and went \(times) times: in the second half \((after.heap - before.heap) >> 10) KiB "
        + "more in use, \((after.resident - before.resident) >> 10) KiB resident once the allocator has given back "
        + "\((kept - after.resident) >> 10) KiB"
    ]
  }

  /// Observers that are there at the same time, each until its first value, and a commit after them.
  private static func round(_ observers: Int, _ pool: DatabasePool) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<observers {
        group.addTask {
          if number % 8 == 0 {
            let feed = Task { for try await _ in pool.changes(of: ["item"]) {} }
            await Task.yield()
            feed.cancel()
            _ = try await feed.value
          }
          var values = pool.values { try $0.value("SELECT count(*) FROM item", as: Int.self) }
            .makeAsyncIterator()
          _ = try await values.next()
        }
      }
      try await group.waitForAll()
    }
    try await pool.inTransaction {
      _ = try $0.executeUpdate("UPDATE counter SET value = value + 1")
    }
  }

  /// Has a pool open all of its readers, which it otherwise does when as many read at once.
  private static func openReaders(of pool: DatabasePool, _ count: Int) {
    let (reading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let readers = DispatchGroup()
    for _ in 0..<count {
      readers.enter()
      Thread.detachNewThread {
        try? pool.read { db in
          _ = try db.value("SELECT count(*) FROM item", as: Int.self)
          reading.signal()
          mayEnd.wait()
        }
        readers.leave()
      }
    }
    for _ in 0..<count { reading.wait() }
    for _ in 0..<count { mayEnd.signal() }
    readers.wait()
  }

  /// What is used once there are no more descriptors and bytes than before, or after a second: a watcher closes
  /// its descriptor on a queue of its own, and threads that have nothing to do end.
  private static func usage(atMost before: ProcessUsage?) async -> ProcessUsage {
    for _ in 0..<100 {
      fault_heap_give_back()
      let usage = ProcessUsage()
      if let before, usage.files.count <= before.files.count, usage.heap <= before.heap {
        return usage
      }
      try? await Task.sleep(for: .milliseconds(10))
    }
    return ProcessUsage()
  }
}
