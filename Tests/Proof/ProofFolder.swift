import Foundation

/// Folders to work in.
enum ProofFolder {
  /// Makes an empty folder of its own, in memory where there is a place for that: most proofs make
  /// thousands of files, and none needs them to outlive it.
  static func make() throws -> String {
    let memory = "/dev/shm"
    let parent =
      access(memory, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory.path
    let path = parent + "/larder-proof-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// Removes the files in a folder.
  static func empty(_ path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      unlink(path + "/" + name)
    }
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
