import Foundation
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Connecting to a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)")
)
struct ConnectingTests {
  let folder: String

  init() throws { folder = try PostgresServer.shared.folder }

  private func error(_ address: String, milliseconds: Int = 5000) -> PostgresFailure? {
    failure { _ = try PostgresConnection(address, deadline: deadline(milliseconds: milliseconds)) }
  }

  @Test("An address is a URL or a list of keywords and values")
  func addresses() throws {
    for address in [
      "host=\(folder) user=larder dbname=postgres",
      "postgres://larder@/postgres?host=\(folder.replacing("/", with: "%2F"))",
      "postgresql:///postgres?host=\(folder)&user=larder",
    ] {
      let db = try PostgresConnection(address)
      #expect(
        try db.rows("SELECT current_user || '@' || current_database()") == [["'larder@postgres'"]])
      #expect(db.status == .idle)
    }
  }

  @Test("Connecting overrides the address's settings that Larder needs, and keeps the others")
  func settings() throws {
    let own = #"-c TimeZone=Europe/Oslo -c search_path=a\\\\,\\ \'b -c lock_timeout=7s"#
    var configuration = PostgresConfiguration()
    configuration.isolation = .repeatableRead
    let db = try PostgresConnection(
      "host=\(folder) user=larder dbname=postgres options='\(own)'", configuration)
    func value(_ name: String) throws -> String { try db.rows("SHOW \(name)")[0][0] }
    #expect(try value("TimeZone") == "'UTC'")
    #expect(try value("DateStyle") == "'ISO, MDY'")
    #expect(try value("default_transaction_isolation") == "'repeatable read'")
    #expect(try value("client_encoding") == "'UTF8'")
    #expect(try value("search_path") == #"'a\, 'b'"#)
    #expect(try value("lock_timeout") == "'7s'")
  }

  @Test("An address can name a service of a service file")
  func service() throws {
    let db = try PostgresConnection("service=larder application_name='it\\'s'")
    #expect(try db.rows("SHOW application_name") == [["'it's'"]])
    #expect(try db.rows("SHOW lock_timeout") == [["'3s'"]])
    #expect(try db.rows("SHOW TimeZone") == [["'UTC'"]])
  }

  @Test("A wrong database, user or password throws with the server's code")
  func refused() throws {
    #expect(error("host=\(folder) user=larder dbname=nowhere")?.sqlState == "3D000")
    #expect(error("host=\(folder) user=larder dbname=nowhere")?.resultCode == .cannotOpen)
    #expect(error("host=\(folder) user=nobody dbname=postgres")?.sqlState == "28000")
    try PostgresServer.shared.run(
      "DROP ROLE IF EXISTS larder_with_password; CREATE ROLE larder_with_password LOGIN PASSWORD 'geheim'"
    )
    let address = "host=\(folder) user=larder_with_password dbname=postgres"
    let wrong = error(address + " password=hunter2")
    #expect(wrong?.sqlState == "28P01")
    #expect(wrong?.resultCode == .authorization)
    #expect(wrong?.message.contains("larder_with_password") == true)
    #expect(wrong?.message.contains("LOCATION") == false)
    #expect(error(address)?.isConnectionLost == true)
    _ = try PostgresConnection(address + " password=geheim")
    let scratch = try ScratchFolder()
    let file = scratch.file("passwords")
    try "*:*:*:larder_with_password:geheim\n".write(toFile: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    _ = try PostgresConnection(address + " passfile=\(file)")
  }

  @Test(
    "No connection error contains the password, even if the address is malformed",
    arguments: [
      "host=/nowhere password=hunter2", "host=/nowhere password=a hunter2", "password='hunter2",
      "host=/nowhere password=a hunter2=3", "postgres://u:hunter2@/db?host=/nowhere",
      "postgres://u:a@hunter2@localhost/db", "postgres://u:12/hunter2@localhost/db",
      "postgres://u:hunter2/x@localhost/db", "postgres://u:hunter2?x@localhost/db",
      "postgres://u:12?hunter2@localhost/db", "postgres://u:12#hunter2@localhost/db",
      "postgres://u:a%hunter2@localhost/db", "mysql://u:hunter2@localhost/db",
      "postgres://u:hunter2@localhost:none/db", "hunter2",
    ])
  func secrets(address: String) throws {
    let found = try #require(self.error(address, milliseconds: 300))
    #expect(!"\(found)".contains("hunter2"))
    #expect(!String(reflecting: found).contains("hunter2"))
    #expect(found.resultCode == .cannotOpen)
  }

  @Test("Connecting to an absent or silent server throws at the deadline")
  func absent() throws {
    #expect(error("host=/nowhere user=x dbname=y")?.sqlState == "08001")
    #expect(error("host=127.0.0.1 port=1 user=x dbname=y")?.sqlState == "08001")
    let proxy = try Proxy(to: folder, isSilent: true)
    let clock = ContinuousClock()
    var late: PostgresFailure?
    let time = clock.measure {
      late = error("host=\(proxy.folder) user=larder dbname=postgres", milliseconds: 200)
    }
    #expect(late?.sqlState == "08001")
    #expect(late?.message == "there was no connection before the deadline")
    #expect(time > .milliseconds(190) && time < .seconds(3))
  }

  @Test("Connecting can be interrupted from another thread")
  func interrupted() throws {
    let proxy = try Proxy(to: folder, isSilent: true)
    let interrupts = try PostgresInterrupt()
    let address = "host=\(proxy.folder) user=larder dbname=postgres"
    Thread.detachNewThread {
      proxy.waitForConnection()
      interrupts.interrupt()
    }
    let error = failure { _ = try PostgresConnection(address, interrupts: interrupts) }
    #expect(error?.resultCode == .interrupt)
  }

  @Test("A full server, a killed connection and a stopped server throw with their codes")
  func ownServer() throws {
    let server = try PostgresServer([
      "-c", "max_connections=3", "-c", "superuser_reserved_connections=0", "-c",
      "max_wal_senders=0",
    ])
    let open = try (0..<3).map { _ in try PostgresConnection(server.address) }
    #expect(error(server.address)?.sqlState == "53300")
    #expect(error(server.address)?.resultCode == .cannotOpen)
    try open[0].run("BEGIN")
    let killer = try open[1].prepare(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        + "AND backend_type = 'client backend'", parameterCount: 0)
    try killer.execute()
    let killed = failure { try open[0].run("SELECT 1") }
    #expect(killed?.sqlState == "57P01")
    #expect(killed?.isConnectionLost == true)
    #expect(killed?.resultCode == .ioError)
    #expect(open[0].status == .unknown)
    let idle = failure { while true { try open[2].checkAlive() } }
    #expect(idle?.isConnectionLost == true)
    server.stop()
    let stopped = failure { try open[1].run("SELECT 1") }
    #expect(stopped?.isConnectionLost == true)
    #expect(error(server.address)?.sqlState == "08001")
  }
}
