import CFaultInjection
import Larder
import ProofSupport

/// Calls of the file system that fail: opening, reading, writing, syncing, cutting, locking, sharing
/// memory, deleting, asking.
enum IOFaults: ProofRow {
  static let name = "io-faults"
  static let number = 1
  static let unit = "points of failure"

  /// SQLite takes a journal whose first byte can't be read for one that has to be rolled back, which
  /// a connection that only reads can't do: `SQLITE_READONLY_ROLLBACK`.
  private static let rollsBack = ResultCode(rawValue: 776)

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let code = ResultCode(rawValue: fault_vfs_install(1))
    guard code == .ok else { throw DatabaseError(code: code, message: "no VFS to fail") }
    var sweep = FaultSweep(kinds: UInt32(FAULT_FILES)) { error in
      [.ioError, .full, .cannotOpen].contains(error.code) || error.extendedCode == rollsBack
    }
    return try sweep.run(options)
  }
}
