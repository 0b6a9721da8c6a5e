import CSQLite
import LarderSQLite

/// A lock of one of a log's read marks that nobody uses.
///
/// Writers begin a log anew only while they hold all marks above 0, so that this lock keeps it as it is. But no
/// checkpoint waits for it before it moves everything, since a mark that isn't in use is no limit. (Afterwards,
/// RESTART and TRUNCATE do.) See [the format of the index](https://www.sqlite.org/walformat.html#walckptinfo).
struct UnusedMark {
  /// A connection of its own: it never begins a transaction, for which SQLite would lock marks, too.
  private let connection: Database
  private var mark: Int32?

  var isHeld: Bool { mark != nil }

  init(_ location: FileLocation, _ configuration: Configuration) throws {
    connection = try Database(at: location, configuration: configuration)
    _ = try connection.value("PRAGMA schema_version", as: Int.self)
  }

  private var handle: OpaquePointer? { connection.connection.handle }

  /// Whether all frames of a log of that length are in the database file.
  func isMoved(_ frames: UInt32) -> Bool { marks.map { $0[0] == frames } ?? true }

  /// How many frames are in the database file, and the five marks.
  private var marks: [UInt32]? {
    var marks = [UInt32](repeating: 0, count: 6)
    guard let handle, larder_log_marks(handle, &marks) != 0 else { return nil }
    return marks
  }

  /// Holds the lock; false if transactions use all marks.
  ///
  /// A mark keeps its value after the last transaction that used it. If all have one, such a mark is reset.
  mutating func hold() -> Bool {
    guard let handle, let found = marks else { return false }
    for number in (1...4).reversed() where found[number + 1] == .max {
      if hold(Int32(number), handle) { return true }
    }
    for number: Int32 in [4, 3, 2, 1] {
      if larder_reset_mark(handle, number) != 0, hold(number, handle) { return true }
    }
    return false
  }

  private mutating func hold(_ number: Int32, _ handle: OpaquePointer) -> Bool {
    guard larder_lock_mark(handle, number, true) == SQLITE_OK else { return false }
    mark = number
    // Somebody may have begun to use it before.
    if marks?[Int(number) + 1] == .max { return true }
    release()
    return false
  }

  mutating func release() {
    if let mark, let handle { _ = larder_lock_mark(handle, mark, false) }
    mark = nil
  }

  mutating func close() {
    release()
    connection.closeEverything()
  }
}
