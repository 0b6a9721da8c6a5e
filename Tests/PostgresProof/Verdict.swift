import Larder
import LarderPostgres

/// What the database holds of what writers were told.
struct Verdict {
  var acknowledged = 0
  var lost: [Int] = []
  var twice: [Int] = []
  var half: [Int] = []
  /// Payments that are there although their writers were told otherwise.
  var undead: [Int] = []
  var stale: [Int] = []
  var readCount = 0

  init(_ told: Writers.Told, on address: String) throws {
    let (payments, receipts) = try onePool(address).read { db in
      (
        try db.fetch(Int.self, "SELECT id FROM payment WHERE id >= \(told.first)"),
        try db.fetch(Int.self, "SELECT id FROM receipt WHERE id >= \(told.first)")
      )
    }
    let (paid, received) = (Set(payments), Set(receipts))
    let counts = [payments, receipts].map { Dictionary(grouping: $0) { $0 } }
    twice = Set(counts.flatMap { $0.filter { $1.count > 1 }.keys }).sorted()
    stale = told.stale
    readCount = told.readCount
    half = Array(paid.symmetricDifference(received))
    for (id, outcome) in told.outcomes {
      switch outcome {
      case .acknowledged, .settled(wasCommitted: true):
        acknowledged += 1
        if !paid.contains(id) { lost.append(id) }
      case .refused, .settled(wasCommitted: false):
        if paid.contains(id) { undead.append(id) }
      }
    }
  }

  var text: String {
    "\(acknowledged) acknowledged, \(lost.count) lost, \(twice.count) twice, \(half.count) half, "
      + "\(undead.count) there that were refused, \(stale.count) of \(readCount) reads stale"
  }

  /// The first of what is wrong.
  var problems: [String] {
    [
      ("lost", lost), ("twice", twice), ("half", half), ("refused, but there", undead),
      ("stale", stale),
    ]
    .filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().prefix(20))" }
  }

  var isRight: Bool { problems.isEmpty }
}
