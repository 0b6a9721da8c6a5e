import LarderSQLite
import TestSupport
import Testing

@Suite("Locks of attached files")
struct AttachedLockTests {
  @Test(
    "A transaction also locks a file that was attached after an earlier transaction of the same kind",
    arguments: [TransactionKind.immediate, .exclusive])
  func attachedLater(kind: TransactionKind) throws {
    let folder = try ScratchFolder()
    let holder = try Database(path: folder.file("archive.db"))
    try holder.executeUpdate("CREATE TABLE city (name)")
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    try queue.inTransaction(kind) { _ in }
    try queue.inDatabase { db in
      try db.executeUpdate("ATTACH ? AS archive", folder.file("archive.db"))
    }

    try holder.begin(.exclusive)
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction(kind) { _ in Issue.record("the closure ran") }
    }
    #expect(error?.code == .busy)
    try holder.rollback()
    try queue.inTransaction(kind) {
      try $0.executeUpdate("INSERT INTO archive.city VALUES ('Oslo')")
    }

    try queue.inDatabase { try $0.executeUpdate("DETACH archive") }
    try holder.begin(.exclusive)
    try queue.inTransaction(kind) { try $0.executeUpdate("CREATE TABLE town (name)") }
    #expect(try holder.value("SELECT name FROM city", as: String.self) == "Oslo")
    try holder.rollback()
  }
}
