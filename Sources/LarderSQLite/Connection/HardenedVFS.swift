import CSQLite
import Glibc

/// SQLite's file layer (VFS) with two rules added. A database file is created readable and writable
/// by its owner only, whoever creates it (opening, ATTACH, `VACUUM INTO`). And only files are opened:
/// no pipes, no devices and, for journals, no links that lead elsewhere. SQLite itself would wait
/// for ever for somebody to write into a pipe. See [VFS](https://www.sqlite.org/vfs.html).
///
/// The unsafe pointers are sound: a file layer is registered once and never freed.
enum HardenedVFS {
  private static let names = Lock<[String: String]>([:])

  /// The name of the hardened form of a file layer (nil: SQLite's default one), which is registered
  /// on first use. Only Unix layers have one: others define themselves what a file is.
  static func name(for vfs: String?) -> String? {
    guard let base = sqlite3_vfs_find(vfs), let baseName = base.pointee.zName else { return vfs }
    let former = String(cString: baseName)
    guard former.utf8.starts(with: "unix".utf8) else { return vfs }
    return names.withLock { names in
      if let name = names[former] { return name }
      let name = "larder-" + former
      guard let made = register(name, on: base) else { return vfs }
      names[former] = made
      return made
    }
  }

  private static func register(
    _ name: String, on base: UnsafeMutablePointer<sqlite3_vfs>
  ) -> String? {
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    layer.initialize(to: base.pointee)
    layer.pointee.pNext = nil
    layer.pointee.zName = strdup(name).map { UnsafePointer($0) }
    layer.pointee.pAppData = UnsafeMutableRawPointer(base)
    layer.pointee.xOpen = { layer, name, file, flags, actualFlags in
      guard let base = layer?.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self) else {
        return SQLITE_INTERNAL
      }
      return HardenedVFS.open(base, name, file, flags, actualFlags)
    }
    return sqlite3_vfs_register(layer, 0) == SQLITE_OK ? name : nil
  }

  private static func open(
    _ base: UnsafeMutablePointer<sqlite3_vfs>, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ actualFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let xOpen = base.pointee.xOpen else { return SQLITE_INTERNAL }
    let isDatabase = flags & SQLITE_OPEN_MAIN_DB != 0
    let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL
    guard let name, isDatabase || flags & journals != 0 else {
      return xOpen(base, name, file, flags, actualFlags)
    }
    // SQLite opens the log's index without calling this, so it is checked here.
    guard isFileOrNothing(name), !isDatabase || isFileOrNothing(String(cString: name) + "-shm")
    else {
      file?.pointee.pMethods = nil
      return SQLITE_CANTOPEN
    }
    // SQLite can't be told a file's mode, but keeps that of an existing file, for its journals too.
    // `mknod` needs no descriptor: closing one would release the locks that another connection of
    // this process may have taken meanwhile. If it fails, SQLite fails for the same reason, and
    // reports that.
    let isNew =
      isDatabase && flags & SQLITE_OPEN_CREATE != 0
      && mknod(name, S_IFREG | S_IRUSR | S_IWUSR, 0) == 0
    let code = xOpen(base, name, file, flags, actualFlags)
    if isNew, code != SQLITE_OK { unlink(name) }
    return code
  }

  /// Whether a path, in which SQLite has resolved all links, leads to a file, or to nothing yet. True
  /// for a folder, too: SQLite has an error of its own for it.
  static func isFileOrNothing(_ path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    return lstat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }
}
