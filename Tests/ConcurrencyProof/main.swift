import ConcurrencyProofs
import Foundation
import ProofSupport

// The proofs that are run under the thread sanitizer, for which a program with the others would be compiled too long.
do {
  try ProofProgram("concurrency-proof", concurrencyProofs).run(CommandLine.arguments.dropFirst())
} catch {
  complain("error: \(error)")
  exit(2)
}
