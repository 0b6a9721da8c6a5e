import Foundation

// Proofs that run until something fails or enough has been tried:
//
//   proof ROW [--count N] [--seconds S] [--seed X] [--json]
//   proof page RESULTS PAGE      writes the table of results into a page of the documentation
//   proof calls GRAPH…           whether the rows of misuse have every public call, by symbol graphs
//
// Exits with 1 where something failed, and says how to see it again. Tests/prove runs the long
// forms and keeps the results.

let rows: [any ProofRow.Type] = [
  AddressSanitizer.self, AsIfAlone.self, BackupCompany.self, Changesets.self,
  CompileTimeEffects.self,
  Differential.self,
  FleetProof.self, FollowProof.self, ForeignTables.self, FullDisk.self,
  FullText.self,
  HostileFiles.self, HostileTexts.self, ToolFiles.self,
  Injection.self, IOFaults.self, JobsProof.self, JSONReading.self,
  Kills.self,
  Leaks.self, Macros.self, MisuseMatrix.self, MovedFile.self, ObservationRow.self,
  ObservedFaults.self, ObservedKills.self, OutOfMemory.self, PowerLoss.self,
  Processes.self, Quiet.self, Replication.self,
  RoundTrip.self,
  SchemaChanges.self, SlowDisk.self,
  ThreadSanitizer.self, Threads.self, TwoEngines.self, TypesAndOperators.self, WALReset.self,
]

func complain(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

func prove(_ row: any ProofRow.Type, _ options: ProofOptions) throws -> Bool {
  let start = ContinuousClock.now
  let result = try row.run(options)
  let seconds = (ContinuousClock.now - start) / .seconds(1)
  let report = ProofReport(row, result, options, seconds: seconds)
  let details = (result.details + [result.skipped.map { "skipped: \($0)" }].compactMap { $0 })
  let line =
    ([
      "\(row.name): \(result.tried) \(row.unit) tried, \(result.failures.count) failed",
      "seed \(options.seed)", "\(report.seconds) s",
    ] + details).joined(separator: ", ")
  if options.json {
    complain(line)
    print(try report.json)
  } else {
    print(line)
  }
  for failure in result.failures.prefix(20) { complain("\(row.name): \(failure)") }
  return result.failures.isEmpty
}

let arguments = CommandLine.arguments.dropFirst()
do {
  switch arguments.first {
  case "page" where arguments.count == 3:
    try ProofPage.update(CommandLine.arguments[3], from: CommandLine.arguments[2])
  case "calls" where arguments.count > 1:
    let problems = try PublicCalls.problems(arguments.dropFirst())
    problems.forEach(complain)
    exit(problems.isEmpty ? 0 : 1)
  case let name:
    guard let row = rows.first(where: { $0.name == name }) else {
      complain("usage: proof ROW [--count N] [--seconds S] [--seed X] [--json], with ROW one of:")
      complain(rows.map { "  \($0.name)" }.joined(separator: "\n"))
      exit(64)
    }
    exit(try prove(row, ProofOptions(arguments.dropFirst())) ? 0 : 1)
  }
} catch {
  complain("error: \(error)")
  exit(2)
}
