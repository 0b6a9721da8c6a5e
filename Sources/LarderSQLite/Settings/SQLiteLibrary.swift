import CSQLite

/// The SQLite library that the program is linked with, and Larder's own version.
public enum SQLiteLibrary {
  /// Larder's version.
  package static let larderVersion = "0.1.0"

  /// SQLite's version, such as `3.40.1`.
  public static var version: String { String(cString: sqlite3_libversion()) }

  /// SQLite's version as a number, such as 3040001.
  package static var versionNumber: Int { Int(sqlite3_libversion_number()) }

  /// Whether SQLite has the [WAL-reset bug](https://www.sqlite.org/wal.html#walresetbug), which can damage a
  /// database with a write-ahead log when a checkpoint begins just after another one has moved everything,
  /// while somebody commits. The versions 3.7.0 to 3.51.2 have it, except for 3.44.6 and 3.50.7. Only the
  /// version number is judged: a distribution may have fixed the bug and kept the number.
  ///
  /// The checkpoints of Larder's connections are safe from it, whatever the version. Those of other programs
  /// on the same file aren't, if their SQLite has it.
  public static var hasWALResetBug: Bool {
    switch versionNumber {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: versionNumber < 3_051_003
    }
  }

  /// Whether SQLite was built for programs with several threads.
  public static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

  /// The [options](https://www.sqlite.org/compile.html) that SQLite was built with, such as `ENABLE_FTS5`.
  public static var compileOptions: [String] {
    var options: [String] = []
    while let option = sqlite3_compileoption_get(Int32(truncatingIfNeeded: options.count)) {
      options.append(String(cString: option))
    }
    return options
  }

  /// After how many frames of a log a new connection makes a checkpoint. Each connection that asked SQLite for
  /// that would compile a statement.
  static let autocheckpoint: Int = {
    let name = "DEFAULT_WAL_AUTOCHECKPOINT="
    let option = compileOptions.first { $0.hasPrefix(name) }
    return option.flatMap { Int($0.dropFirst(name.count)) } ?? 1000
  }()

  /// The bytes that SQLite has allocated, for all connections of the process.
  public static var memoryUsed: Int { Int(sqlite3_memory_used()) }

  /// Limits how many bytes SQLite may allocate, for all connections of the process; nil for no limit.
  /// A call that needs more throws `ResultCode.noMemory`. For programs that open files from
  /// elsewhere. See [hard_heap_limit64](https://www.sqlite.org/c3ref/hard_heap_limit64.html).
  ///
  /// Returns the limit that was in force before. The bytes are counted by ``memoryUsed``.
  @discardableResult
  public static func setMemoryLimit(_ bytes: Int?) -> Int? {
    let former = sqlite3_hard_heap_limit64(Int64(max(0, bytes ?? 0)))
    return former > 0 ? Int(former) : nil
  }

  /// Turns off SQLite's memory statistics for the whole process, which makes inserts up to 20 % faster;
  /// ``memoryUsed`` is 0 then and heap limits don't work. Throws `ResultCode.misuse` once a database was
  /// opened. See [sqlite3_config](https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus).
  public static func disableMemoryStatistics() throws {
    let code = larder_config_memory_statistics(0)
    guard code == SQLITE_OK else {
      throw DatabaseError(
        ResultCode(rawValue: code),
        "memory statistics can be turned off only before the first database is opened")
    }
  }
}
