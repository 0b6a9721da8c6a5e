import Foundation

/// A temporary folder of its own for one test, removed with all that is in it when the test has ended.
package final class ScratchFolder {
  package let path: String

  /// Makes an empty folder: in memory, where there is a place for that, for those that make thousands of
  /// files which needn't outlive the process.
  package init(inMemory: Bool = false) throws {
    let memory = "/dev/shm"
    let parent =
      inMemory && access(memory, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory.path
    path = parent + "/larder-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { remove() }

  package func file(_ name: String) -> String { path + "/" + name }

  package func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: file(name))
  }

  /// The permissions of a file.
  package func mode(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  /// What is in a file. `Data(contentsOf:)` leaks 4 KiB for each empty one, which the address
  /// sanitizer reports.
  package static func contents(of path: String) throws -> Data {
    try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data()
  }

  /// Replaces bytes of a file by as many others, as nothing but a program of one's own can do with
  /// the text that a schema keeps.
  package func replace(_ old: String, by new: String, in name: String) throws {
    struct NotFound: Error {}
    let url = URL(fileURLWithPath: file(name))
    var bytes = try Data(contentsOf: url)
    guard old.utf8.count == new.utf8.count, let range = bytes.range(of: Data(old.utf8)) else {
      throw NotFound()
    }
    bytes.replaceSubrange(range, with: Data(new.utf8))
    try bytes.write(to: url)
  }

  /// Removes the files in a folder.
  package static func empty(_ path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      unlink(path + "/" + name)
    }
  }

  /// Removes the folder before it would go by itself.
  package func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Calls a closure with the path of a new, empty folder, and removes the folder with all in it.
package func withTemporaryFolder<T>(_ body: (String) throws -> T) throws -> T {
  let folder = try ScratchFolder()
  defer { folder.remove() }
  return try body(folder.path)
}
