import Foundation
import PostgresSupport

// Proofs on PostgreSQL servers of their own: what many clients, kills, cuts and frozen servers do to records,
// and which plans queries have. `Tests/postgres VERB` builds and runs them.
//
//   postgres-proof VERB [--OPTION VALUE…]      --help tells the options
//
// Exits with 1 where something was found wrong.

let verbs: [String: any Verb.Type] = [
  "increments": Increments.self, "plans": Plans.self, "freeze": Freeze.self, "cuts": Cuts.self,
  "migrate": Migrate.self, "failover": Failover.self, "replicas": Replicas.self,
  "patroni": Patroni.self, "sessions": Sessions.self,
  "throughput": Throughput.self, "feed": Feed.self, "values": Values.self, "by-hand": ByHand.self,
  "server-types": ServerTypes.self,
]

/// Not print, which keeps lines back where they go to a file.
func report(_ text: String) {
  let file = Figures.haveOutput.withLock { $0 } ? FileHandle.standardError : .standardOutput
  file.write(Data((text + "\n").utf8))
}

func complain(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  if arguments.first == Migrate.child {
    try Migrate.runChild(arguments)
    exit(0)
  }
  if arguments.first == Feed.child {
    try Feed.runChild(arguments)
    exit(0)
  }
  guard let name = arguments.first, let verb = verbs[name] else {
    complain("usage: Tests/postgres VERB [--help], with VERB one of:")
    for name in verbs.keys.sorted() { complain("  \(name)") }
    exit(2)
  }
  if arguments.dropFirst().contains("--help") {
    report(verb.help)
    exit(0)
  }
  let options = try Options(arguments.dropFirst(), allowed: verb.options)
  guard PostgresServer.isInstalled else { throw Wrong(PostgresServer.whySkipped) }
  let start = ContinuousClock.now
  try verb.run(options)
  report(
    "\(name): right, in \(String(format: "%.1f", (ContinuousClock.now - start) / .seconds(1))) s")
} catch {
  complain("postgres-proof: \(error)")
  exit(1)
}
