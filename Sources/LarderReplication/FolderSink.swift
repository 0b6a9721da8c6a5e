import CSQLite
import FoundationEssentials
import Glibc
import LarderSQLite

/// A folder that a log is shipped to, such as one on another disk or a mounted file system.
///
/// Each object is a file, written under another name, synced, and renamed once it is whole.
public struct FolderSink: LogSink {
  private let path: String

  /// A folder, which is created if there is none. Throws `ResultCode.cannotOpen` if it can't be.
  public init(_ path: String) throws {
    self.path = try DraftFolder.make(path, for: "a log")
  }

  /// Stores a file. Throws `ResultCode.full` or `ResultCode.ioError`.
  public func put(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    let target = try file(name)
    let folder = String(target[..<(target.lastIndex(of: "/") ?? target.endIndex)])
    // The folder itself isn't created again: the disk may not be mounted.
    guard access(path, F_OK) == 0 else { throw Self.error(path) }
    try makeFolders(to: folder)
    let draft = folder + "/.larder-" + String(UInt64.random(in: .min ... .max), radix: 16)
    try Self.write(bytes, to: draft)
    defer { unlink(draft) }
    var code = larder_rename_new(draft, target)
    if code != 0, errno == EINVAL || errno == ENOSYS { code = link(draft, target) }
    guard code == 0 else {
      if errno == EEXIST { return false }
      throw Self.error(target)
    }
    try Self.syncFolder(folder)
    return true
  }

  /// Reads a file.
  public func get(_ name: String) throws -> [UInt8]? {
    let target = try file(name)
    let descriptor = open(target, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw Self.error(target)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.error(target) }
    let size = Int(status.st_size)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        guard let base = buffer.baseAddress else { return }
        let read = pread(descriptor, base + count, size - count, count)
        if read < 0, errno == EINTR { continue }
        guard read >= 0 else { throw Self.error(target) }
        if read == 0 { return }
        count += read
      }
    }
  }

  /// Lists files, also those in folders below.
  public func list(_ prefix: String) throws -> [LogObject] {
    let slash = prefix.utf8.lastIndex(of: UInt8(ascii: "/"))
    var found: [LogObject] = []
    try list(slash.map { String(prefix[..<$0]) } ?? "", prefix, into: &found)
    return found
  }

  private func list(_ folder: String, _ prefix: String, into found: inout [LogObject]) throws {
    let place = folder.isEmpty ? path : path + "/" + folder
    guard access(place, F_OK) == 0 || errno != ENOENT || folder.isEmpty else { return }
    for entry in try DraftFolder.names(in: place) where !entry.hasPrefix(".") {
      let name = folder.isEmpty ? entry : folder + "/" + entry
      guard name.hasPrefix(prefix) || prefix.hasPrefix(name + "/") else { continue }
      var status = stat()
      guard stat(path + "/" + name, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        try list(name, prefix, into: &found)
      } else if name.hasPrefix(prefix) {
        found.append(LogObject(name: name, bytes: Int(status.st_size)))
      }
    }
  }

  /// Removes a file.
  public func remove(_ name: String) throws {
    let target = try file(name)
    guard unlink(target) == 0 || errno == ENOENT else { throw Self.error(target) }
  }

  private func file(_ name: String) throws -> String {
    guard !name.utf8.contains(0), !name.split(separator: "/").contains(".."), !name.isEmpty else {
      throw DatabaseError(.misuse, "“\(name)” isn't the name of an object")
    }
    return path + "/" + name
  }

  private func makeFolders(to folder: String) throws {
    guard access(folder, F_OK) != 0 else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw DatabaseError(.cannotOpen, "the folder \(folder) can't be created: \(error)")
    }
    var parent = folder[...]
    while parent.count > path.count, let slash = parent.lastIndex(of: "/") {
      parent = parent[..<slash]
      try Self.syncFolder(String(parent))
    }
  }

  private static func write(_ bytes: [UInt8], to draft: String) throws {
    let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw error(draft) }
    defer { close(descriptor) }
    do {
      try bytes.withUnsafeBytes { buffer in
        var done = 0
        while done < buffer.count {
          guard let base = buffer.baseAddress else { return }
          let written = Glibc.write(descriptor, base + done, buffer.count - done)
          if written < 0, errno == EINTR { continue }
          guard written > 0 else { throw error(draft) }
          done += written
        }
      }
      guard fsync(descriptor) == 0 else { throw error(draft) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  private static func syncFolder(_ folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error(folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw error(folder) }
  }

  private static func error(_ path: String) -> DatabaseError {
    let code: ResultCode =
      switch errno {
      case ENOSPC, EDQUOT: .full
      case ENOENT, ENOTDIR, EACCES: .cannotOpen
      default: .ioError
      }
    return DatabaseError(code, "\(path): \(String(cString: strerror(errno)))")
  }
}

extension LogSink where Self == FolderSink {
  /// A folder; see ``FolderSink``.
  public static func folder(_ path: String) throws -> FolderSink { try FolderSink(path) }
}
