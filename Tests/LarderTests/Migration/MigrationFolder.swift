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

  /// Replaces bytes of a file by as many others, as nothing but a program of one's own can do with
  /// the text that a schema keeps.
  func replace(_ old: String, by new: String, in name: String) throws {
    struct NotFound: Error {}
    let url = URL(fileURLWithPath: file(name))
    var bytes = try Data(contentsOf: url)
    guard old.utf8.count == new.utf8.count, let range = bytes.range(of: Data(old.utf8)) else {
      throw NotFound()
    }
    bytes.replaceSubrange(range, with: Data(new.utf8))
    try bytes.write(to: url)
  }
}
