import Glibc

/// What a copy has to pass before it is one.
public enum CopyCheck: Hashable, Sendable {
  /// [quick_check](https://www.sqlite.org/pragma.html#pragma_quick_check): that all pages and rows can be read,
  /// and hold together.
  case quick
  /// [integrity_check](https://www.sqlite.org/pragma.html#pragma_integrity_check): also that indexes hold what
  /// their tables do, which takes several times as long.
  case full

  fileprivate var pragma: String { self == .quick ? "quick_check" : "integrity_check" }
}

extension Database {
  /// Writes a copy into a new file and reads all of it back: a complete file of its own, without a log beside
  /// it, that is on the disk. It isn't removed when this throws.
  ///
  /// - Parameters:
  ///   - path: where no file is yet.
  ///   - willCheck: told what stops the check.
  ///   - progress: as for ``backup(to:pagesPerStep:progress:)``.
  package func copy(
    verifiedBy check: CopyCheck, into path: String,
    willCheck: (InterruptHandle) -> Void = { _ in },
    progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.key = connection.key
    // Nobody has it yet: it is synced once, when it is whole.
    configuration.synchronous = .off
    configuration.busyTimeout = .zero
    // Each page is written once.
    configuration.cacheSize = 1 << 20
    let copy = try Database(path: path, configuration: configuration)
    defer { copy.closeEverything() }
    try withoutActuallyEscaping(progress) { try backup(to: copy, progress: $0) }
    // The header says what journal the source has. Without a log it can be read where nothing can be written.
    _ = try copy.value("PRAGMA journal_mode = delete", as: String.self)
    try copy.close()
    try Self.sync(path)
    try verify(path, check, willCheck)
  }

  /// Reads a copy by a connection of its own, with the functions that this one has.
  private func verify(
    _ path: String, _ check: CopyCheck, _ willCheck: (InterruptHandle) -> Void
  ) throws {
    var configuration = configuration
    configuration.key = connection.key
    configuration.authorizer = nil
    configuration.statementDeadline = nil
    try Self.verify(path, check, configuration, willCheck)
  }

  /// Reads all of a file, and throws `ResultCode.corrupt` where it isn't whole.
  static func verify(
    _ path: String, _ check: CopyCheck, _ configuration: Configuration,
    _ willCheck: (InterruptHandle) -> Void = { _ in }
  ) throws {
    var configuration = configuration
    configuration.readOnly = true
    configuration.journalMode = nil
    configuration.removesOwnLog = true
    // Almost each page is read once.
    configuration.cacheSize = 4 << 20
    configuration.flags.remove(.uri)
    let copy = try Database(path: path, configuration: configuration)
    willCheck(copy.interruptHandle)
    let result = try copy.value(SQL(raw: "PRAGMA \(check.pragma)(1)"), as: String.self)
    guard result == "ok" else {
      throw DatabaseError(
        .corrupt, "the copy fails SQLite's check: \(result ?? "no answer")")
    }
    try copy.close()
  }

  private static func sync(_ path: String) throws {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
    }
    defer { Glibc.close(file) }
    guard fsync(file) == 0 else {
      throw DatabaseError(.ioErrorFsync, "\(path): \(String(cString: strerror(errno)))")
    }
  }
}

/// Gives a file its name in a folder, for good, in place of the one that has it.
package func publish(_ draft: String, replacing path: String) throws {
  guard rename(draft, path) == 0 else {
    throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
  }
  try NewFile.syncFolder(of: path)
}
