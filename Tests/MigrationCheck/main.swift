import Foundation
import Larder

// What the tests of migrations need another process for, on the database at the path given:
//
//   migration-check PATH COUNT   says "ready", waits for a byte, applies that many migrations of some
//                                hundred statements each, and says when each begins and has ended

func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}

func migration(_ number: Int) -> Migration {
  var sql = "CREATE TABLE IF NOT EXISTS done (number); CREATE TABLE city_\(number) (name TEXT);"
  for row in 0..<200 { sql += "INSERT INTO city_\(number) VALUES ('city \(row)');" }
  sql += "CREATE INDEX city_\(number)_name ON city_\(number) (name);"
  sql += "INSERT INTO done VALUES (\(number));"
  return Migration("city \(number)", sql: SQL(raw: sql))
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]) else { exit(64) }
do {
  var configuration = Configuration()
  configuration.busyTimeout = .seconds(60)
  let migrator = Migrator((0..<count).map(migration))
  say("ready")
  var byte: UInt8 = 0
  _ = read(0, &byte, 1)
  let queue = try DatabaseQueue(path: arguments[1], configuration: configuration)
  try migrator.migrate(queue) { progress in
    say("\(progress.duration == nil ? "begins" : "ended") \(progress.index)")
  }
} catch {
  say("error: \(error)")
  exit(1)
}
