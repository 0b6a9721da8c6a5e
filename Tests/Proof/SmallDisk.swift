import Foundation
import Larder

/// A disk in memory, of half a megabyte unless told otherwise, most of which can be taken away and given back.
final class SmallDisk {
  let folder: String
  private(set) var isMounted = false
  /// Why it isn't mounted.
  private(set) var problem = ""

  private let size: Int

  init(folder: String, size: Int = 512 << 10) {
    self.folder = folder
    self.size = size
    guard mkdir(folder, 0o700) == 0,
      mount("tmpfs", folder, "tmpfs", 0, "size=\(size)") == 0
    else {
      problem = String(cString: strerror(errno))
      return
    }
    isMounted = true
  }

  private var ballast: String { folder + "/ballast" }

  /// Leaves a third of the disk.
  func takeSpace() throws {
    try Data(count: size * 2 / 3).write(to: URL(fileURLWithPath: ballast))
  }

  /// Gives half of what was taken back, then all.
  func freeSpace() throws {
    guard let taken = try? FileManager.default.attributesOfItem(atPath: ballast)[.size] as? Int
    else { return }
    truncate(ballast, taken > size / 3 ? taken / 2 : 0)
  }

  func unmount() {
    if isMounted { umount(folder) }
    isMounted = false
    rmdir(folder)
  }

  deinit { unmount() }
}
