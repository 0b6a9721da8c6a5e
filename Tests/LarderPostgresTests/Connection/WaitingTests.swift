import Foundation
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Waiting for a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct WaitingTests {
  let folder: String

  init() throws { folder = try PostgresServer.shared.folder }

  /// Doesn't wait as long as by default for a server that doesn't answer.
  private var impatient: PostgresConfiguration {
    var configuration = PostgresConfiguration()
    configuration.cancellationPatience = .milliseconds(100)
    return configuration
  }

  private func elapsed(_ body: () throws -> Void) rethrows -> Duration {
    try ContinuousClock().measure(body)
  }

  @Test("A statement ends at its deadline, and the connection stays usable")
  func deadlineOfStatement() throws {
    let db = try PostgresConnection.test()
    db.deadline = deadline(milliseconds: 100)
    var error: PostgresFailure?
    let time = elapsed { error = failure { try db.run("SELECT pg_sleep(30)") } }
    #expect(error?.resultCode == .interrupt)
    #expect(error?.message == "the statement ran longer than its deadline")
    #expect(error?.isConnectionLost == false)
    #expect(time > .milliseconds(95) && time < .seconds(5))
    #expect(failure { try db.run("SELECT 1") }?.resultCode == .interrupt)
    db.deadline = deadline(milliseconds: 5000)
    #expect(try db.rows("SELECT 1") == [["1"]])
  }

  @Test("Streaming rows ends at the deadline")
  func deadlineWhileStreaming() throws {
    let db = try PostgresConnection.test()
    let rows = try db.prepare(
      "SELECT repeat('x', 9000), pg_sleep(0.01) FROM generate_series(1, 5000)")
    db.deadline = deadline(milliseconds: 150)
    try rows.execute(streaming: true)
    var count = 0
    let error = failure { while try rows.next() { count += 1 } }
    #expect(error?.resultCode == .interrupt)
    #expect(count > 0 && count < 5000)
    db.deadline = nil
    #expect(db.status == .idle)
  }

  @Test("Another thread interrupts a running statement, and an interrupt without one has no effect")
  func interrupt() throws {
    let db = try PostgresConnection.test()
    let identifier = try db.rows("SELECT pg_backend_pid()")[0][0]
    let interrupts = db.interrupts
    interrupts.interrupt()
    #expect(try db.rows("SELECT 1") == [["1"]])
    Thread.detachNewThread {
      // Waits until the statement runs.
      let isRunning =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = \(identifier)"
      let other = try? PostgresConnection.test()
      while (try? other?.rows(isRunning)) == [["0"]] {}
      interrupts.interrupt()
    }
    try db.run("BEGIN")
    let error = failure { try db.run("SELECT pg_sleep(30)") }
    #expect(error?.resultCode == .interrupt)
    #expect(error?.message == "the statement was interrupted")
    #expect(db.status == .failedTransaction)
    try db.run("ROLLBACK")
    #expect(try db.rows("SELECT 1") == [["1"]])
  }

  @Test("Interrupts that race with 500 statements don't mix up their results")
  func racingInterrupts() throws {
    // Each cancellation request opens a connection, which is slow while many others connect.
    var configuration = PostgresConfiguration()
    configuration.cancellationPatience = .seconds(60)
    let db = try PostgresConnection(PostgresServer.shared.address, configuration)
    let interrupts = db.interrupts
    let isOver = Lock(false)
    let thread = Thread { while !isOver.withLock({ $0 }) { interrupts.interrupt() } }
    thread.start()
    var interrupted = 0
    for number in 0..<500 {
      // Some take long enough for an interrupt to reach them for sure.
      let source = number % 50 == 49 ? " FROM pg_sleep(1)" : ""
      do {
        let rows = try db.rows("SELECT $1::int8" + source, .integer(Int64(number)))
        #expect(rows == [["\(number)"]])
      } catch let error as PostgresFailure {
        #expect(error.resultCode == .interrupt)
        interrupted += 1
        if !db.isOpen { break }
      }
    }
    isOver.withLock { $0 = true }
    #expect(interrupted > 0 && interrupted < 500, "\(interrupted)")
    #expect(db.isOpen)
    #expect(try db.rows("SELECT 5") == [["5"]])
  }

  @Test("A frozen backend is given up shortly after the deadline")
  func frozenBackend() throws {
    let db = try PostgresConnection(PostgresServer.shared.address, impatient)
    let identifier = try #require(pid_t(db.rows("SELECT pg_backend_pid()")[0][0]))
    kill(identifier, SIGSTOP)
    defer { kill(identifier, SIGCONT) }
    db.deadline = deadline(milliseconds: 300)
    var error: PostgresFailure?
    let time = elapsed { error = failure { try db.run("SELECT 1") } }
    #expect(error?.resultCode == .interrupt)
    #expect(error?.isConnectionLost == true)
    #expect(time > .milliseconds(290) && time < .seconds(2))
    #expect(!db.isOpen)
  }

  @Test("A frozen server blocks neither statements nor connecting beyond their deadlines")
  func frozenServer() throws {
    let server = try PostgresServer()
    let db = try PostgresConnection(server.address, impatient)
    let backend = try #require(pid_t(db.rows("SELECT pg_backend_pid()")[0][0]))
    for process in [server.identifier, backend] { kill(process, SIGSTOP) }
    defer { for process in [server.identifier, backend] { kill(process, SIGCONT) } }
    let start = ContinuousClock.now
    db.deadline = deadline(milliseconds: 200)
    let lost = failure { try db.run("SELECT 1") }
    let late = failure {
      _ = try PostgresConnection(server.address, deadline: deadline(milliseconds: 200))
    }
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(lost?.isConnectionLost == true)
    #expect(late?.sqlState == "08001")
  }

  @Test("A large statement is sent while a large result arrives")
  func bothDirections() throws {
    let db = try PostgresConnection.test()
    let text = String(repeating: "å", count: 400_000)
    let statement = try db.prepare("SELECT $1::text, $2::text")
    try statement.bind([.text(text), .text(text)])
    try statement.execute()
    #expect(try statement.next())
    #expect(try statement.column(0).text() == text)
    #expect(try statement.column(1).text() == text)
  }

  @Test("A connection that is cut after any number of bytes throws, and never hangs")
  func cuts() throws {
    let proxy = try Proxy(to: folder)
    let address = "host=\(proxy.folder) user=larder dbname=postgres"
    var connected = 0
    var whole = 0
    for bytes in stride(from: 1, to: 3000, by: 37) {
      proxy.cut(after: bytes)
      do {
        let db = try PostgresConnection(address, deadline: deadline(milliseconds: 60_000))
        connected += 1
        db.deadline = deadline(milliseconds: 60_000)
        db.deferred = ["BEGIN"]
        for _ in 0..<3 {
          let rows = try db.rows(
            "SELECT i, $1::text FROM generate_series(1, 5) i", "abc", streaming: true)
          #expect(rows.count == 5)
        }
        #expect(try db.run("COMMIT") == "COMMIT")
        whole += 1
      } catch let error as PostgresFailure {
        #expect(error.isConnectionLost, "\(error)")
        #expect([.ioError, .cannotOpen].contains(error.resultCode), "\(bytes): \(error)")
      }
    }
    #expect(connected > 3 && whole > 0 && whole < connected)
    proxy.cut(after: .max)
  }

  @Test("A network that goes silent throws at the deadline")
  func silence() throws {
    let proxy = try Proxy(to: folder)
    let db = try PostgresConnection(
      "host=\(proxy.folder) user=larder dbname=postgres", impatient)
    #expect(try db.rows("SELECT 1") == [["1"]])
    proxy.freeze()
    db.deadline = deadline(milliseconds: 200)
    #expect(failure { try db.run("SELECT 1") }?.isConnectionLost == true)
  }
}
