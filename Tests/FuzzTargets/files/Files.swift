import Foundation
import Larder

// Damaged database files: whatever is in them, reading them is an error or gives rows, and ends.

let path = "\(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")/larder-fuzz-\(getpid()).db"

let removal: Void = {
  _ = atexit { unlink(path) }
}()

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  _ = removal
  let bytes = UnsafeBufferPointer(start: data, count: data == nil ? 0 : count)
  guard let file = fopen(path, "w") else { found("can't write \(path)") }
  fwrite(bytes.baseAddress, 1, bytes.count, file)
  fclose(file)
  // The second way in reads what the check of the first one keeps out.
  var untrusted = Configuration(profile: .untrustedFile)
  var unchecked = Configuration(profile: .service)
  unchecked.readOnly = true
  unchecked.statementDeadline = .seconds(2)
  untrusted.statementDeadline = .seconds(2)
  let sum = bytes.reduce(0) { $0 &* 31 &+ UInt64($1) }
  let configuration = sum & 1 == 0 ? untrusted : unchecked
  guard let db = try? Database(path: path, configuration: configuration) else { return 0 }
  if sum & 2 == 0 { readSchema(db) } else { readRows(db) }
  guard (try? db.close()) != nil else { found("the database can't be closed") }
  return 0
}

/// Reads all there is to know of tables; errors are what is expected.
func readSchema(_ db: Database) {
  _ = try? db.value("PRAGMA integrity_check(3)", as: String.self)
  _ = try? db.userVersion
  _ = try? Schema(db)
  for entry in ((try? db.schema()) ?? []).prefix(4) where entry.kind == .table {
    _ = try? db.columns(of: entry.name)
    _ = try? db.indexes(of: entry.name)
    _ = try? db.foreignKeys(of: entry.name)
  }
  _ = try? City.table.differences(db)
}

/// Reads rows; errors are what is expected.
func readRows(_ db: Database) {
  for entry in ((try? db.schema()) ?? []).prefix(6) where entry.kind != .index {
    let query: SQL = "SELECT * FROM \(identifier: entry.name) LIMIT 20"
    guard let rows = try? db.executeQuery(query) else { continue }
    while (try? rows.next()) == true {
      for index in 0..<rows.columnCount {
        _ = try? rows[index]
        _ = try? rows.get(at: index, as: String.self)
      }
    }
  }
  _ = try? City.fetchAll(db)
  _ = try? City.filter { $0.population > 1000 && $0.name.hasPrefix("O") }.fetchAll(db)
  _ = try? db.fetch(String.self, "SELECT name FROM city ORDER BY name DESC")
}

struct City: Record {
  var id: Int64?
  var name: String
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \City.id, .primaryKey)
    let name = Column("name", \City.name)
    let population = Column("population", \City.population, .indexed)
  }
  static let columns = Columns()
  static let table = Table("city", City.init, columns.id, columns.name, columns.population)
}
