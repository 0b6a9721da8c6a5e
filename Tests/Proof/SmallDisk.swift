import Foundation
import Larder

/// A disk of half a megabyte in memory, most of which can be taken away and given back.
final class SmallDisk {
  let folder: String
  private(set) var isMounted = false
  /// Why it isn't mounted.
  private(set) var problem = ""

  private static let size = 512 << 10

  init(folder: String) {
    self.folder = folder
    guard mkdir(folder, 0o700) == 0,
      mount("tmpfs", folder, "tmpfs", 0, "size=\(Self.size)") == 0
    else {
      problem = String(cString: strerror(errno))
      return
    }
    isMounted = true
  }

  private var ballast: String { folder + "/ballast" }

  /// Leaves a third of the disk.
  func takeSpace() throws {
    try Data(count: Self.size * 2 / 3).write(to: URL(fileURLWithPath: ballast))
  }

  /// Gives half of what was taken back, then all.
  func freeSpace() throws {
    guard let size = try? FileManager.default.attributesOfItem(atPath: ballast)[.size] as? Int
    else { return }
    truncate(ballast, size > Self.size / 3 ? size / 2 : 0)
  }

  func unmount() {
    if isMounted { umount(folder) }
    isMounted = false
    rmdir(folder)
  }

  deinit { unmount() }
}
