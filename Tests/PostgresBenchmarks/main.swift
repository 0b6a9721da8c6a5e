import CPostgresReference
import Foundation
import Larder
import LarderPostgres

// Compares records on a PostgreSQL server with libpq called by hand in C, on the same server:
// `Tests/postgres benchmarks` starts one.
//
//   postgres-benchmarks --address ADDRESS [--rows N] [--runs N] [--only NAME] [--instructions 1]
//
// A run is several rounds of a few milliseconds in which both take turns, so that both meet with the same of
// what else the machine does. The ratio is that of the medians of all runs; the last column is what it is to
// be at most.

var arguments = CommandLine.arguments.dropFirst()
var address: String?
var (rowCount, runCount) = (20_000, 9)
let roundCount = 6
var only: String?
while let option = arguments.popFirst() {
  guard let value = arguments.popFirst() else { fail("\(option) needs a value") }
  switch (option, Int(value)) {
  case ("--address", _): address = value
  case ("--only", _): only = value
  case ("--instructions", _): Work.countsInstructions = true
  case ("--rows", let number?) where number > 0: rowCount = number
  case ("--runs", let number?) where number > 0: runCount = number
  default: fail("what is \(option) \(value)?")
  }
}
guard let address else { fail("--address needs a value") }

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("postgres-benchmarks: \(message)\n".utf8))
  exit(1)
}

/// Runs everything with two numbers of rows, once for caches and once counted, and prints what is counted.
func countInstructions(_ address: String, only: String?) throws {
  for (name, _, work) in Work.all where only == nil || only == "server: \(name)" {
    for rows in [2_000, 6_000] {
      let (reference, larder) = (try Reference(address, rows), try LarderSide(address, rows))
      for (side, measure) in [("c", reference.measure), ("larder", larder.measure)] {
        for isRead in [false, true] {
          _ = try measure(work)
          print(isRead ? "\(side) \(work.count(of: rows)) server: \(name)" : "-")
        }
      }
    }
  }
}

do {
  if Work.countsInstructions {
    try countInstructions(address, only: only)
    exit(0)
  }
  let reference = try Reference(address, rowCount)
  let larder = try LarderSide(address, rowCount)
  func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
  print("µs a row, medians of \(runCount)      C     Larder   ratio   limit")
  for (name, limit, work) in Work.all where only == nil || only == name {
    var times: (c: [Double], larder: [Double]) = ([], [])
    // The first time is for caches and plans.
    for run in 0...runCount {
      var (c, own) = (0.0, 0.0)
      for round in 0..<roundCount {
        if round % 2 == 0 { c += try reference.measure(work) }
        own += try larder.measure(work)
        if round % 2 == 1 { c += try reference.measure(work) }
      }
      guard run > 0 else { continue }
      times.c.append(c / Double(roundCount))
      times.larder.append(own / Double(roundCount))
    }
    let c = times.c.sorted()[runCount / 2]
    let own = times.larder.sorted()[runCount / 2]
    let numbers = [c, own, own / c].map { String(format: "%.2f", $0) }
    print(
      name + right(numbers[0], 32 - name.count) + right(numbers[1], 11) + right(numbers[2], 8)
        + right(limit.map { String(format: "%.1f", $0) } ?? "", 8))
  }
} catch { fail("\(error)") }
