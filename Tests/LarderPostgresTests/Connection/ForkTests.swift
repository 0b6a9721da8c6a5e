import Foundation
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "A server's connection after a fork",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct ForkTests {
  /// Runs a closure in a child process, and returns its status. A process with several threads may
  /// fork while another thread holds a lock, for which the child then waits forever: such a child
  /// is forked again.
  private func inChild(_ body: () -> Bool) throws -> Int32 {
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
    for _ in 0..<5 {
      let child = fork()
      if child == 0 {
        alarm(5)
        _exit(body() ? 0 : 1)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      if status & 0x7f != SIGALRM { return status }
    }
    return -1
  }

  @Test("A forked child can't use the parent's connection, and closing it there does no harm")
  func child() throws {
    let db = try PostgresConnection.test()
    let statement = try db.prepare("SELECT generate_series(1, $1::int4)")
    try statement.bind([3])
    try statement.execute(streaming: true)
    #expect(try statement.next())
    let status = try inChild {
      let error = failure { try db.run("SELECT 1") }
      let other = failure { while try statement.next() {} }
      db.interrupts.interrupt()
      db.close()
      return error?.isConnectionLost == true && other != nil && db.status == .unknown
    }
    #expect(status == 0)
    #expect(try statement.next())
    #expect(statement.column(0).integer == 2)
    #expect(try db.rows("SELECT 1") == [["1"]])
  }
}
