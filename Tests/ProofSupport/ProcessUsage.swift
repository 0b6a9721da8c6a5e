import CFaultInjection
import Foundation
import Larder

/// What the process uses of files and memory.
package struct ProcessUsage {
  /// What each open descriptor leads to.
  package let files: [Int: String]
  package let sqlite: Int
  package let resident: Int
  /// What the allocator has given out, and not got back.
  package let heap: Int

  package init() {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    files = names.reduce(into: [:]) { files, name in
      // The folder that is being read is there too, and gone by now.
      guard let number = Int(name),
        let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
      else { return }
      files[number] = place
    }
    sqlite = SQLiteLibrary.memoryUsed
    heap = fault_heap_in_use()
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
      .split(separator: " ").dropFirst().first.flatMap { Int($0) }
    resident = (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// How many of the files are inotify instances.
  package var watches: Int { files.values.count { $0.contains("inotify") } }

  /// Whether this is a build of the address or the thread sanitizer, which keep what is freed for a while, and
  /// have an allocator of their own.
  package static let isSanitized =
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
