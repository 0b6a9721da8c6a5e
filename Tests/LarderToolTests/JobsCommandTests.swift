import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite("larder jobs")
struct JobsCommandTests {
  private let tool: Tool

  init() throws { tool = try Tool() }

  /// Two mails and an import, of which the second mail and the import have failed for the last time.
  private func fill(_ store: any DatabaseAccess) throws {
    try Migrator(JobQueue.migrations).migrate(store)
    try store.inTransaction { db in
      try MailToCustomer(customer: "Ada").enqueue(db)
      try MailToCustomer(customer: "Grace").enqueue(db) { $0.unique = "mail/Grace" }
      try ImportOfCities(file: "cities.csv").enqueue(db) { $0.queue = "import" }
      try MailToCustomer(customer: "Later").enqueue(db) {
        $0.due = Date(timeIntervalSince1970: 4_000_000_000)
      }
      try db.executeUpdate(
        """
        UPDATE larder_job SET state = 4, attempts = 20, errors = '["attempt 20: no such host"]'
        WHERE id IN (2, 3)
        """)
    }
  }

  private func file() throws -> String {
    let queue = try DatabaseQueue(path: tool.file("shop.db"))
    try fill(queue)
    try queue.close()
    return "shop.db"
  }

  private func states() throws -> [[DatabaseValue]] {
    try tool.values("shop.db", "SELECT id, state, attempts FROM larder_job ORDER BY id")
  }

  @Test(
    "larder jobs counts the jobs of each queue by state, and tells how long the first has waited")
  func queues() throws {
    let file = try file()
    let result = try tool.run("jobs", file)
    #expect(result.status == 0, "\(result.errors)")
    let words = result.lines.map { $0.split(separator: " ").map(String.init) }
    #expect(words[1].prefix(7) == ["default", "1", "1", "–", "–", "–", "1"])
    #expect(words[1].last == "s")
    #expect(words[2] == ["import", "–", "–", "–", "–", "–", "1", "–"])
    let json = try tool.run("jobs", file, "--json")
    let queues = try JSONDecoder().decode([Queue].self, from: Data(json.output.utf8))
    #expect(queues.map(\.queue) == ["default", "import"])
    #expect(queues.map(\.counts) == [["ready": 1, "scheduled": 1, "dead": 1], ["dead": 1]])
    #expect(queues[0].secondsReady != nil && queues[1].secondsReady == nil)
  }

  @Test("larder jobs lists the jobs that a state, a queue and a type's name choose")
  func lists() throws {
    let file = try file()
    func numbers(_ options: String...) throws -> [Int64] {
      let result = try tool.run(["jobs", file, "--json"] + options)
      return try JSONDecoder().decode([Shown].self, from: Data(result.output.utf8)).map(\.id)
    }
    #expect(try numbers("--state", "dead") == [2, 3])
    #expect(try numbers("--queue", "import") == [3])
    #expect(try numbers("--name", "MailToCustomer") == [1, 2, 4])
    #expect(try numbers("--name", "MailToCustomer", "--state", "dead") == [2])
    #expect(try numbers("--state", "running") == [])
    let table = try tool.run("jobs", file, "--state", "dead", "--limit", "1")
    #expect(table.lines.count == 2)
    #expect(table.lines[1].hasSuffix("20/20  attempt 20: no such host"))
    #expect(table.errors.contains("--limit lists more"))
  }

  @Test("larder jobs --id shows a job with its payload and errors")
  func one() throws {
    let file = try file()
    let result = try tool.run("jobs", file, "--id", "2")
    for line in [
      "job       2, MailToCustomer", "state     dead", "unique    mail/Grace",
      #"payload   {"customer":"Grace"}"#, "  attempt 20: no such host",
    ] { #expect(result.lines.contains(line), "\(result.output)") }
    let json = try tool.object("jobs", file, "--id", "2")
    #expect(json["errors"] as? [String] == ["attempt 20: no such host"])
    #expect(json["payload"] as? String == #"{"customer":"Grace"}"#)
    #expect(try tool.run("jobs", file, "--id", "17").status == 1)
    #expect(try tool.run("jobs", file, "--id", "2", "--state", "ready").status == 1)
  }

  @Test("--retry makes dead jobs ready with all of their attempts, and keeps their errors")
  func retry() throws {
    let file = try file()
    let result = try tool.run("jobs", file, "--state", "dead", "--retry")
    #expect(result.output == "2 jobs retried\n", "\(result.errors)")
    #expect(try states() == [[1, 1, 0], [2, 1, 0], [3, 1, 0], [4, 0, 0]])
    #expect(try tool.run("jobs", file, "--id", "2").output.contains("no such host"))
    let none = try tool.run("jobs", file, "--id", "2", "--retry")
    #expect(none.status == 1 && none.errors.contains("no such job 2 that can be retried"))
  }

  @Test("--remove removes jobs only with --yes, and without it tells how many that would be")
  func remove() throws {
    let file = try file()
    let before = try states()
    let asked = try tool.run("jobs", file, "--state", "dead", "--remove")
    #expect(asked.status == 2)
    #expect(asked.errors.contains("2 jobs would be removed; --yes removes them"))
    #expect(try states() == before)
    let one = try tool.object("jobs", file, "--id", "3", "--remove", "--yes")
    #expect(one["removed"] as? Int == 1)
    let rest = try tool.run("jobs", file, "--name", "MailToCustomer", "--remove", "--yes")
    #expect(rest.output == "3 jobs removed\n")
    #expect(try states().isEmpty)
    #expect(try tool.run("jobs", file).output == "There are no jobs.\n")
  }

  @Test("The last job of a batch is ready once the command has removed the others")
  func batch() throws {
    let queue = try DatabaseQueue(path: tool.file("shop.db"))
    try Migrator(JobQueue.migrations).migrate(queue)
    try queue.inTransaction { db in
      _ = try [ImportOfCities(file: "a.csv"), ImportOfCities(file: "b.csv")].enqueue(
        db, then: MailToCustomer(customer: "Ada"))
    }
    try queue.close()
    #expect(
      try tool.run("jobs", "shop.db", "--name", "ImportOfCities", "--remove", "--yes").status == 0)
    #expect(try states() == [[1, 1, 0]])
  }

  @Test(
    "Options that exclude one another, or choose no jobs, are refused before anything is opened",
    arguments: [
      ["--retry"], ["--remove", "--yes"], ["--retry", "--remove", "--id", "1"], ["--yes"],
      ["--state", "lost"], ["--limit", "5"], ["--id", "no"],
    ])
  func refused(_ options: [String]) throws {
    let result = try tool.run(["jobs", "missing.db"] + options)
    #expect(result.status == 2, "\(result.errors)")
  }

  @Test("A database without the table of jobs is told as that")
  func noTable() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("jobs", "cities.db")
    #expect(result.status == 1)
    #expect(result.errors.contains("there is no table of jobs, “larder_job”"))
    #expect(try tool.run("jobs", "cities.db", "--id", "1", "--retry").status == 1)
  }

  @Test(
    "On a server the command lists, shows, retries and removes jobs as on a file",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whySkipped)))
  func server() throws {
    let address = try PostgresServer.newDatabase()
    let pool = try PostgresPool(address)
    try fill(pool)
    defer { try? pool.close() }
    let queues = try tool.run("jobs", address, "--json")
    #expect(
      try JSONDecoder().decode([Queue].self, from: Data(queues.output.utf8)).map(\.counts)
        == [["ready": 1, "scheduled": 1, "dead": 1], ["dead": 1]], "\(queues.errors)")
    let job = try tool.object("jobs", address, "--id", "2")
    #expect(job["errors"] as? [String] == ["attempt 20: no such host"])
    #expect(try tool.run("jobs", address, "--id", "2", "--retry").output == "1 job retried\n")
    #expect(
      try tool.run("jobs", address, "--state", "dead", "--remove", "--yes").output
        == "1 job removed\n")
    let rest = try pool.read { db in try StoredJob.order { $0.id }.fetchAll(db) }
    #expect(rest.map(\.id) == [1, 2, 4])
    #expect(rest.map(\.state) == [.ready, .ready, .scheduled])
  }
}

private struct Queue: Decodable {
  let queue: String
  let counts: [String: Int]
  let secondsReady: Double?
}

private struct Shown: Decodable {
  let id: Int64
}

private struct MailToCustomer: Job {
  var customer: String
  func run(_ context: JobContext) async throws {}
}

private struct ImportOfCities: Job {
  var file: String
  func run(_ context: JobContext) async throws {}
}
