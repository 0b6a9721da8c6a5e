import ProofSupport

/// The proofs of threads, tasks and observers in one file.
package var concurrencyProofs: [any ProofRow.Type] {
  [AsIfAlone.self, ObservationRow.self, ObservedFaults.self, ObservedKills.self, Threads.self]
}
