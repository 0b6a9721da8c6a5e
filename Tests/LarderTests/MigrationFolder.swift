import Foundation

/// A folder of its own for one test, removed with all that is in it when the test has ended.
final class MigrationFolder {
  private let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/larder-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}
