import Glibc

/// The check that a copy has to pass before it gets its name.
///
/// Rows that break a CHECK constraint pass: SQLite reads these constraints on connections that can write only,
/// and a faithful copy has such rows too.
public enum CopyCheck: Hashable, Sendable {
  /// [quick_check](https://www.sqlite.org/pragma.html#pragma_quick_check): whether all pages and rows can be
  /// read and are consistent.
  case quick
  /// [integrity_check](https://www.sqlite.org/pragma.html#pragma_integrity_check): also whether indexes match
  /// their tables, which takes several times as long.
  case full

  fileprivate var pragma: String { self == .quick ? "quick_check" : "integrity_check" }
}

extension Configuration {
  /// The settings of a connection that copies an existing file, as it is and all of it.
  package var forCopying: Configuration {
    var configuration = self
    configuration.journalMode = nil
    configuration.flags.remove(.create)
    configuration.authorizer = nil
    configuration.statementDeadline = nil
    // A copy's own statements, and the check that reads all of it, are slow and nobody's to improve.
    configuration.trace = nil
    return configuration
  }
}

extension Database {
  /// Writes a copy into a new file, syncs it, and reads all of it back. The copy is a complete file without a
  /// log beside it. It isn't removed if this throws.
  ///
  /// - Parameters:
  ///   - path: the path of the new file.
  ///   - willCheck: called with the handle that interrupts the check.
  ///   - progress: as for ``backup(to:pagesPerStep:progress:)``.
  package func copy(
    verifiedBy check: CopyCheck, into path: String,
    willCheck: (InterruptHandle) -> Void = { _ in },
    progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.key = connection.key
    // Nobody uses the copy yet, so it is synced once, when it is whole.
    configuration.synchronous = .off
    configuration.busyTimeout = .zero
    // A small cache suffices, since each page is written once.
    configuration.cacheSize = 1 << 20
    let copy = try Database(path: path, configuration: configuration)
    defer { copy.closeEverything() }
    try withoutActuallyEscaping(progress) { try backup(to: copy, progress: $0) }
    // The header still has the source's journal mode. Without a log, the copy can also be read on media that
    // can't be written.
    _ = try copy.value("PRAGMA journal_mode = delete", as: String.self)
    try copy.close()
    try Self.sync(path)
    try verify(path, check, willCheck)
  }

  /// Verifies a copy by another connection, with the functions that this one has.
  private func verify(
    _ path: String, _ check: CopyCheck, _ willCheck: (InterruptHandle) -> Void
  ) throws {
    var configuration = configuration.forCopying
    configuration.key = connection.key
    try Self.verify(path, check, configuration, willCheck)
  }

  /// Reads a whole file, and throws `ResultCode.corrupt` if it is damaged.
  package static func verify(
    _ path: String, _ check: CopyCheck, _ configuration: Configuration,
    _ willCheck: (InterruptHandle) -> Void = { _ in }
  ) throws {
    var configuration = configuration
    configuration.readOnly = true
    configuration.journalMode = nil
    configuration.removesOwnLog = true
    // A small cache suffices, since almost every page is read once.
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

/// Renames a draft to its final path, replaces the file that is there, and syncs the folder.
package func publish(_ draft: String, replacing path: String) throws {
  guard rename(draft, path) == 0 else {
    throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
  }
  try FileLocation.syncFolder(of: path)
}
