import FoundationEssentials
import Glibc

/// A folder in which files are drafted under other names, then checked and published under their own. Any of
/// the processes that do so may be killed.
///
/// Each process has a lock file, `.larder-NUMBER.lock`, locked as long as the process lives (`flock`). The
/// names of its drafts begin with the same number. Drafts whose lock nobody holds were left behind by a
/// killed process, and are removed.
///
/// Sendable because its variables are touched by one thread at a time, which its owner ensures.
package final class DraftFolder: @unchecked Sendable {
  package let path: String
  private var lock: (descriptor: Int32, name: String)?
  private var count = 0

  private static let prefix = ".larder-"
  private static let suffix = ".lock"

  /// - Parameter path: the folder, which has to exist when it is first used.
  package init(_ path: String) { self.path = path }

  deinit { close() }

  /// The path of a new draft. Throws `ResultCode.cannotOpen` if the folder doesn't exist.
  package func draft() throws -> String {
    let name = try lockName()
    count += 1
    return "\(path)/\(name)-\(count)"
  }

  /// Removes a draft, with its journal, log and index.
  package func discard(_ draft: String) { NewFile.remove(draft) }

  /// Releases the lock.
  package func close() {
    guard let lock else { return }
    unlink(path + "/" + lock.name + Self.suffix)
    Glibc.close(lock.descriptor)
    self.lock = nil
  }

  /// The name of the lock. Takes a lock if none is held, or if the folder is another one by now.
  private func lockName() throws -> String {
    if let lock {
      if Self.leads(path + "/" + lock.name + Self.suffix, to: lock.descriptor) { return lock.name }
      Glibc.close(lock.descriptor)
      self.lock = nil
    }
    try removeLeftovers()
    while true {
      let name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 16)
      let file = name + Self.suffix
      let descriptor = open(path + "/" + file, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw error(file) }
      // Another process that looks for leftovers may have been faster.
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0,
        Self.leads(path + "/" + file, to: descriptor)
      {
        lock = (descriptor, name)
        return name
      }
      Glibc.close(descriptor)
    }
  }

  /// Whether a path leads to an open file.
  private static func leads(_ path: String, to descriptor: Int32) -> Bool {
    var own = stat()
    return fstat(descriptor, &own) == 0
      && FileLocation.Identity(ofFileAt: path) == FileLocation.Identity(own)
  }

  /// Removes what killed processes have left behind.
  private func removeLeftovers() throws {
    let names = try names()
    for file in names where file.hasPrefix(Self.prefix) && file.hasSuffix(Self.suffix) {
      let descriptor = open(path + "/" + file, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { Glibc.close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
      let name = file.dropLast(Self.suffix.count)
      for draft in names where draft.hasPrefix(name + "-") { unlink(path + "/" + draft) }
      unlink(path + "/" + file)
    }
  }

  /// The names of all that is in the folder.
  package func names() throws -> [String] { try Self.names(in: path) }

  package static func names(in path: String) throws -> [String] {
    guard let listing = opendir(path) else {
      throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }

  private func error(_ name: String) -> DatabaseError {
    let code: ResultCode = errno == ENOSPC ? .full : .cannotOpen
    return DatabaseError(code, "\(path)/\(name): \(String(cString: strerror(errno)))")
  }
}
