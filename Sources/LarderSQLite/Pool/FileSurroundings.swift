import Dispatch
import Glibc

/// Looks at what is around a database's file: the space that is free there, and which process reads the log.
///
/// Looking may take any time if the disk doesn't answer. So it happens on a thread of the background, once
/// somebody has asked, and those who ask get what was found last.
///
/// Sendable because it has no state except what its lock guards.
final class FileSurroundings: Sendable {
  private let path: String
  private let state = Lock(State())

  /// What was found the last time.
  struct Findings {
    var freeBytes: Int?
    /// The process that has the log's snapshot, and since when that is known.
    var reader: (name: String, since: Duration)?
    fileprivate var process = 0
  }

  private struct State {
    var findings = Findings()
    var time = Duration.zero
    var isLooking = false
  }

  private static let pause = Duration.milliseconds(500)

  init(_ location: FileLocation) { path = location.path }

  /// The last findings. Has somebody look anew if they are old.
  func latest(looksForReaders: Bool) -> Findings {
    let now = MonotonicClock.now
    let (findings, isDue) = state.withLock { state in
      let isDue = !state.isLooking && now - state.time >= Self.pause
      if isDue { state.isLooking = true }
      return (state.findings, isDue)
    }
    if isDue {
      DispatchQueue.global(qos: .utility).async { self.look(looksForReaders: looksForReaders) }
    }
    return findings
  }

  private func look(looksForReaders: Bool) {
    let process = looksForReaders ? readingProcess() : nil
    var volume = statvfs()
    let isFound = statvfs(FileLocation.folder(of: path), &volume) == 0
    let bytes = isFound ? Int(volume.f_bavail) * Int(volume.f_frsize) : nil
    let now = MonotonicClock.now
    state.withLock { state in
      state.isLooking = false
      state.time = now
      state.findings.freeBytes = bytes
      guard let process else {
        state.findings.reader = nil
        state.findings.process = 0
        return
      }
      guard process != state.findings.process else { return }
      state.findings.process = process
      state.findings.reader = (Self.name(of: process), now)
    }
  }

  /// The process that holds one of the log's read marks, another one first; nil for none.
  ///
  /// The marks are locks on five bytes of the log's index. The kernel's list of locks tells who holds them. (A
  /// descriptor can't ask: closing it would release this process's own locks.) See [the format of the
  /// index](https://www.sqlite.org/walformat.html#wal_locks).
  private func readingProcess() -> Int? {
    guard let index = FileLocation.Identity(ofFileAt: path + "-shm"),
      let locks = Self.text(ofFileAt: "/proc/locks")
    else { return nil }
    var found: Int?
    for line in locks.split(separator: "\n") {
      // 3: POSIX ADVISORY READ 4711 fe:01:1234 124 124
      let words = line.split(separator: " ")
      guard words.count >= 8, words[1] == "POSIX", words[words.count - 5] == "READ",
        let process = Int(words[words.count - 4]), process > 0,
        words[words.count - 3].split(separator: ":").last.flatMap({ UInt($0) }) == index.inode,
        let byte = Int(words[words.count - 2]), (123...127).contains(byte)
      else { continue }
      if process != Int(getpid()) { return process }
      found = process
    }
    return found
  }

  private static func name(of process: Int) -> String {
    if process == Int(getpid()) { return "another connection of this process" }
    let name = text(ofFileAt: "/proc/\(process)/comm")?.split(separator: "\n").first
    return "process \(process)" + (name.map { " (\($0))" } ?? "")
  }

  /// The text of a file of the kernel's.
  private static func text(ofFileAt path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
