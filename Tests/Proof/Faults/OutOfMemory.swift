import CFaultInjection
import Larder
import ProofSupport

/// SQLite's allocator failing.
enum OutOfMemory: ProofRow {
  static let name = "out-of-memory"
  static let number = 2
  static let unit = "failed allocations"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    for code in [fault_memory_install(), fault_vfs_install(1)].map(ResultCode.init(rawValue:)) {
      guard code == .ok else { throw DatabaseError(code: code, message: "no allocator to fail") }
    }
    var sweep = FaultSweep(kinds: UInt32(FAULT_MEMORY)) { error in
      // The second is an I/O error for want of memory.
      error.code == .noMemory || error.extendedCode == 3082
    }
    return try sweep.run(options)
  }
}
