import Foundation
import LarderSQLite

/// A folder of its own for one test, removed with all that is in it when the test has ended.
final class ScratchFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/larder-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func mode(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }
}
