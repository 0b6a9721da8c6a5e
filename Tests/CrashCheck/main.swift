import Foundation
import LarderSQLite
import Synchronization

// What the tests need another process for, on the database at the path given. Each role says what
// it has done in lines on its standard output.
//
//   crash-check write PATH FIRST   commits transactions of two tables from 8 threads until it is
//                                  killed, and writes the id of each that is acknowledged
//   crash-check hold PATH          holds the lock for writing until a byte comes in
//   crash-check count PATH NUMBER  adds one to a counter that often, each in a transaction of its
//                                  own, and writes how many milliseconds the longest took

func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  // Short enough to arrive in one piece, whoever else writes.
  _ = write(1, bytes, bytes.count)
}

func writeUntilKilled(_ path: String, from first: Int) throws {
  let queue = try DatabaseQueue(path: path)
  try queue.inTransaction { db in
    try db.executeStatements(
      """
      CREATE TABLE IF NOT EXISTS payment (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS receipt (
        payment INTEGER PRIMARY KEY REFERENCES payment DEFERRABLE INITIALLY DEFERRED, text TEXT);
      """)
  }
  let next = Atomic<Int>(first)
  for _ in 0..<8 {
    Thread.detachNewThread {
      while true {
        let id = next.add(1, ordering: .relaxed).oldValue
        do {
          try queue.inTransaction { db in
            try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
            try db.executeUpdate("INSERT INTO payment VALUES (?, ?)", id, id * 7)
          }
          say(String(id))
        } catch {
          say("error: \(error)")
        }
      }
    }
  }
  while true { pause() }
}

func hold(_ path: String) throws {
  let db = try Database(path: path)
  try db.begin()
  say("held")
  var byte: UInt8 = 0
  _ = read(0, &byte, 1)
  try db.rollback()
}

func count(_ path: String, _ number: Int) throws {
  var configuration = Configuration()
  configuration.busyTimeout = .seconds(60)
  let queue = try DatabaseQueue(path: path, configuration: configuration)
  say("ready")
  var byte: UInt8 = 0
  _ = read(0, &byte, 1)
  var longest = Duration.zero
  for _ in 0..<number {
    let time = try ContinuousClock().measure {
      _ = try queue.inTransaction { try $0.executeUpdate("UPDATE counter SET value = value + 1") }
    }
    longest = max(longest, time)
  }
  say(String(Int(longest / .milliseconds(1))))
}

let arguments = CommandLine.arguments
do {
  switch (arguments.dropFirst().first, arguments.count) {
  case ("write", 4): try writeUntilKilled(arguments[2], from: Int(arguments[3]) ?? 0)
  case ("hold", 3): try hold(arguments[2])
  case ("count", 4): try count(arguments[2], Int(arguments[3]) ?? 0)
  default: exit(64)
  }
} catch {
  say("error: \(error)")
  exit(1)
}
