import Foundation
import LarderMacros
import LarderPostgres

/// A support desk: tickets, comments, tags, a job queue.
///
///     desk check [ADDRESS]        everything, in a temporary folder or in schemas of its own on a server
///     desk serve ADDRESS [N]      N workers, the audit log, figures; requests as lines of the input
///     desk load ADDRESS PREFIX [N]  N tasks open tickets until killed, and print those that are there
///     desk move FROM TO           copies all rows into an empty database of any kind
///
/// An address is a path, `:memory:`, or that of a PostgreSQL server.
@main
struct Main {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      switch (arguments.first, arguments.count) {
      case ("check", 1...2): exit(try await check(arguments.count > 1 ? arguments[1] : nil) ? 0 : 1)
      case ("serve", 2...3):
        let ending = Ending()
        let sources = ending.onSignals()
        try await Serve.run(
          arguments[1], workers: arguments.count > 2 ? Int(arguments[2]) ?? 2 : 2, ending,
          Notebook())
        for source in sources { source.cancel() }
      case ("load", 3...4):
        try await Load.run(
          arguments[1], prefix: arguments[2],
          tasks: arguments.count > 3 ? Int(arguments[3]) ?? 4 : 4)
      case ("move", 3):
        for (table, count) in try await Move.run(from: arguments[1], to: arguments[2]) {
          say("\(table) \(count)")
        }
      default:
        say("desk check [ADDRESS] | serve ADDRESS [WORKERS] | load ADDRESS PREFIX | move FROM TO")
        exit(2)
      }
    } catch {
      say("desk: \(error)")
      exit(1)
    }
  }

  /// Runs all checks; false where one fails.
  static func check(_ server: String?) async throws -> Bool {
    let scratch = try Scratch(server)
    let checks = Checks()
    let watch = Notebook()
    if server == nil {
      say("— in memory")
      let memory = try Store.open(":memory:", Watch())
      await ServiceChecks(store: memory, checks: checks).all()
      try await memory.access.close()
    }
    say("— \(server ?? scratch.folder)")
    let address = try scratch.address("desk")
    let store = try Store.open(address, Watch(watch))
    await ServiceChecks(store: store, checks: checks).all()
    await WatchChecks(store: store, notebook: watch, checks: checks).all()
    await ProcessChecks(store: store, checks: checks).all()
    await MigrationChecks(scratch: scratch, checks: checks).all()
    if let pool = store.pool {
      await FileChecks(pool: pool, scratch: scratch, checks: checks).all()
    } else {
      await ServerChecks(store: store, scratch: scratch, checks: checks).all()
    }
    try await store.access.close()
    try scratch.remove()
    say(checks.isFine ? "all is well" : "something is wrong")
    return checks.isFine
  }
}

/// A folder, or schemas on a server, that are gone after the checks.
final class Scratch {
  let server: String?
  let folder = FileManager.default.temporaryDirectory.path + "/desk-" + UUID().uuidString.prefix(8)
  private let mark = "desk_" + UUID().uuidString.prefix(8).lowercased() + "_"
  private var schemas: [String] = []

  init(_ server: String?) throws {
    self.server = server
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// The address of a new and empty database.
  func address(_ name: String) throws -> String {
    guard let server else { return "\(folder)/\(name).db" }
    let schema = mark + name
    try administrate { try $0.executeUpdate("CREATE SCHEMA \(identifier: schema)") }
    schemas.append(schema)
    let isURL = server.hasPrefix("postgres")
    return isURL
      ? server + (server.contains("?") ? "&" : "?")
        + "options=-csearch_path%3D\(schema)&application_name=\(schema)"
      : server + " options='-c search_path=\(schema)' application_name=\(schema)"
  }

  func remove() throws {
    for schema in schemas {
      try administrate { try $0.executeUpdate("DROP SCHEMA \(identifier: schema) CASCADE") }
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  private func administrate(_ body: (Database) throws -> Int) throws {
    guard let server else { return }
    let pool = try PostgresPool(server)
    _ = try pool.inTransaction(body)
    try pool.close()
  }
}
