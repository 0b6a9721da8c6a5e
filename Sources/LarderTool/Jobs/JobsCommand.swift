import FoundationEssentials
import Larder
import LarderJobs
import LarderTerminal

extension Command {
  static let jobs = Command(
    name: "jobs", arguments: "FILE", argumentCount: 1...1,
    summary: "Shows what waits, runs and has failed in a queue of jobs; retries and removes jobs.",
    details: """
      FILE is a file, or a server: postgres://user@host/database. Without options the queues are listed, with
      the number of jobs in each state and how long the first ready one has waited. Any of --queue, --state and
      --name lists jobs, and --id shows one with its payload and its errors.

      --retry has the dead ones among them run again, and those that wait for another attempt at once. --remove
      removes them, whatever their state, and needs --yes: without it, it only tells how many that would be.
      Both write to the database, in one transaction, and need a choice of jobs. The task of a removed job that
      runs is cancelled when its worker extends the lease.

      States: scheduled (not due yet), ready, running, blocked (its limit is full), waiting (for its batch), dead.

      Example:
        larder jobs shop.db
        larder jobs shop.db --state dead --name SendMail
        larder jobs postgres://app@db.example.org/shop --id 17
        larder jobs shop.db --state dead --name SendMail --retry
        larder jobs shop.db --queue import --state dead --remove --yes
      """,
    options: [
      Option("queue", "NAME", "only jobs of this queue"),
      Option("state", "STATE", "only jobs in this state, such as dead"),
      Option("name", "TYPE", "only jobs of the type with this name"),
      Option("id", "NUMBER", "only this job"),
      Option("limit", "NUMBER", "how many jobs are listed (50)"),
      Option("retry", nil, "run the dead jobs, and those that wait for another attempt, again"),
      Option("remove", nil, "remove the jobs"),
      Option("yes", nil, "with --remove: do it"),
    ]
  ) { invocation in
    let action = try invocation.choice(of: ["retry", "remove"])
    guard !invocation.has("yes") || action == "remove" else {
      throw Failure(.usage, "--yes confirms --remove, and needs it")
    }
    let choice = try JobChoice(invocation)
    let limit = try invocation.integer("limit", in: 1...1_000_000)
    guard action == nil || !choice.isOfAll else {
      throw Failure(.usage, "which jobs? give --queue, --state, --name or --id")
    }
    guard limit == nil || action == nil && !choice.isOfAll else {
      throw Failure(.usage, "--limit is for lists, which need --queue, --state or --name")
    }
    let jobs = try JobDatabase(invocation)
    switch action {
    case "retry": try jobs.change("retried", choice) { try JobQueue.retry($0, choice.jobs) }
    case "remove" where !invocation.has("yes"):
      let count = try jobs.read { db in try choice.jobs.fetchCount(db) }
      throw Failure(
        .usage, "\(count.counted("job")) would be removed; --yes removes them")
    case "remove": try jobs.change("removed", choice) { try JobQueue.remove($0, choice.jobs) }
    default:
      if let id = choice.id {
        try jobs.show(id, choice)
      } else if choice.isOfAll {
        try jobs.showQueues()
      } else {
        try jobs.list(choice, limit: limit ?? 50)
      }
    }
  }
}

/// The jobs that the options choose.
private struct JobChoice {
  let id: Int64?
  let jobs: Query<StoredJob>
  /// Whether no option chooses any.
  let isOfAll: Bool

  init(_ invocation: Invocation) throws {
    id = try invocation.integer("id", in: 1...Int.max).map(Int64.init)
    var jobs = StoredJob.all
    if let id { jobs = jobs.filter { $0.id == id } }
    if let queue = invocation.text("queue") { jobs = jobs.filter { $0.queue == queue } }
    if let name = invocation.text("name") { jobs = jobs.filter { $0.name == name } }
    if let word = invocation.text("state") {
      guard let state = StoredJob.State.shown.first(where: { "\($0)" == word }) else {
        let names = StoredJob.State.shown.map { "\($0)" }.joined(separator: ", ")
        throw Failure(.usage, "--state has to be one of \(names), not “\(word)”")
      }
      jobs = jobs.filter { $0.state == state }
    }
    self.jobs = jobs
    isOfAll = !["id", "queue", "name", "state"].contains(where: invocation.has)
  }
}

/// The jobs of the database on the command line.
private struct JobDatabase {
  private let invocation: Invocation
  private let database: NamedDatabase

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    database = try NamedDatabase(invocation.arguments[0], invocation)
  }

  /// Calls a closure in a transaction that only reads. Throws ``Failure`` if there is no table of jobs.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    try database.read { db in
      try check(db)
      return try body(db)
    }
  }

  private func check(_ db: Database) throws {
    guard try db.tableExists(StoredJob.table.name) else {
      throw Failure("\(database.name): there is no table of jobs, “\(StoredJob.table.name)”")
    }
  }

  func showQueues() throws {
    let now = Date()
    let queues = try read { db in try JobQueue.statistics(db).map { ListedQueue($0, now) } }
    if invocation.wantsJSON { return try Output.showJSON(queues) }
    guard !queues.isEmpty else { return print("There are no jobs.") }
    let states = StoredJob.State.shown
    var table = TextTable(
      header: ["QUEUE"] + states.map { "\($0)".uppercased() } + ["OLDEST READY"],
      numbers: Set(1...states.count + 1))
    for queue in queues {
      let counts = states.map { queue.counts["\($0)"].map(\.grouped) ?? "–" }
      table.add([queue.queue] + counts + [queue.secondsReady.map(AgeText.text) ?? "–"])
    }
    table.show()
  }

  func list(_ choice: JobChoice, limit: Int) throws {
    let jobs = try read { db in
      // One more, which tells that there are more.
      try choice.jobs.order { $0.id }.limit(limit + 1).fetchAll(db)
    }
    let listed = jobs.prefix(limit).map { ListedJob($0) }
    if invocation.wantsJSON { return try Output.showJSON(listed) }
    guard !listed.isEmpty else { return print("There are no such jobs.") }
    var table = TextTable(
      "ID", "QUEUE", "STATE", "NAME", "DUE", "ATTEMPTS", "LAST ERROR", numbers: [0, 5])
    for job in listed {
      table.add(
        String(job.id), job.queue, job.state, job.name, job.due,
        "\(job.attempts)/\(job.mostAttempts)", String((job.errors.last ?? "–").prefix(80)))
    }
    table.show()
    if jobs.count > limit {
      Output.note("larder: there are more than \(limit.counted("job")); --limit lists more")
    }
  }

  func show(_ id: Int64, _ choice: JobChoice) throws {
    guard let found = try read({ db in try choice.jobs.fetchOne(db) }) else {
      throw Failure("\(database.name): there is no such job \(id)")
    }
    let job = ListedJob(found)
    try invocation.show(job, job.lines)
  }

  /// Changes the jobs in one transaction, and tells how many.
  func change(
    _ verb: String, _ choice: JobChoice, _ body: (Database) throws -> Int
  ) throws {
    let count = try database.write { db in
      // A job that a worker changes at the same time is looked at anew, and fails nothing.
      try db.relaxIsolation()
      try check(db)
      return try body(db)
    }
    if count == 0, let id = choice.id {
      throw Failure("\(database.name): there is no such job \(id) that can be \(verb)")
    }
    try invocation.show([verb: count], ["\(count.counted("job")) \(verb)"])
  }
}
