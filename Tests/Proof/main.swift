import ConcurrencyProofs
import Foundation
import ProofSupport

// Proofs that run until something fails or enough has been tried:
//
//   proof ROW [--count N] [--seconds S] [--seed X] [--json]
//   proof page RESULTS PAGE      writes the table of results into a page of the documentation
//   proof calls GRAPH…           whether the rows of misuse have every public call, by symbol graphs
//
// Exits with 1 where something failed, and says how to see it again. Tests/prove runs the long
// forms and keeps the results.

let rows: [any ProofRow.Type] =
  concurrencyProofs + [
    AddressSanitizer.self, BackupCompany.self, Changesets.self,
    CompileTimeEffects.self,
    Differential.self,
    FleetProof.self, FollowProof.self, ForeignTables.self, FullDisk.self,
    FullText.self,
    HostileFiles.self, HostileTexts.self, ToolFiles.self,
    Injection.self, IOFaults.self, JobsProof.self, JSONReading.self,
    Kills.self,
    Leaks.self, Macros.self, MisuseMatrix.self, MovedFile.self,
    OutOfMemory.self, PowerLoss.self,
    Processes.self, Quiet.self, Replication.self,
    RoundTrip.self,
    SchemaChanges.self, SlowDisk.self,
    ThreadSanitizer.self, TwoEngines.self, TypesAndOperators.self, WALReset.self,
  ]

let arguments = CommandLine.arguments.dropFirst()
do {
  switch arguments.first {
  case "page" where arguments.count == 3:
    try ProofPage.update(CommandLine.arguments[3], from: CommandLine.arguments[2])
  case "calls" where arguments.count > 1:
    let problems = try PublicCalls.problems(arguments.dropFirst())
    problems.forEach(complain)
    exit(problems.isEmpty ? 0 : 1)
  default:
    try ProofProgram("proof", rows).run(arguments)
  }
} catch {
  complain("error: \(error)")
  exit(2)
}
