import Foundation
import Larder

/// The file that a trial of faults begins with.
package enum FaultTemplate {
  /// The bytes of a file with these pages, in this journal mode.
  package static func make(
    in folder: String, pageSize: Int, _ configuration: Configuration,
    fill: (Database) throws -> Void
  ) throws -> Data {
    let path = folder + "/template.db"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = configuration
    configuration.prepareDatabase = nil
    let mode = configuration.journalMode
    configuration.journalMode = nil
    do {
      let db = try Database(path: path, configuration: configuration)
      try db.executeUpdate(SQL(raw: "PRAGMA page_size = \(pageSize)"))
      try db.inTransaction(.immediate, fill)
      try db.close()
    }
    configuration.journalMode = mode
    try Database(path: path, configuration: configuration).close()
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }
}
