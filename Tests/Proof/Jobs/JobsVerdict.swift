import Foundation
import LarderJobs

extension JobJournal {
  /// Notes that a process has been killed.
  func killed(_ process: pid_t) {
    let line = Array("killed \(process) 0 \(process) \(Self.now)\n".utf8)
    _ = line.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    close(file)
  }
}

/// Whether the runs in a journal are as they have to be.
struct JobsVerdict {
  private struct Run {
    let process: Int
    let begin: Int
    var end: Int?
    var isDone = false
  }

  private(set) var failures: [String] = []
  private(set) var runs = 0
  /// Runs that have no end.
  private(set) var cut = 0
  private var jobs: [Int: [Run]] = [:]

  init(_ journal: String) {
    for line in journal.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 5, let number = Int(words[1]), let process = Int(words[3]),
        let time = Int(words[4])
      else {
        failures.append("a line of the journal: \(line)")
        continue
      }
      let last = jobs[number]?.lastIndex { $0.process == process }
      switch words[0] {
      case "begin":
        jobs[number, default: []].append(Run(process: process, begin: time))
        runs += 1
      case "done": if let last { jobs[number]?[last].isDone = true }
      case "end": if let last { jobs[number]?[last].end = time }
      default: break
      }
    }
  }

  /// - Parameter count: the jobs have the numbers below.
  mutating func check(_ count: Int, lease: Duration) {
    let lease = Int(lease / .microseconds(1))
    for number in 0..<count {
      let runs = (jobs[number] ?? []).sorted { $0.begin < $1.begin }
      if !runs.contains(where: { $0.isDone }) {
        // It may have been killed between its commit and its note.
        if number % 5 != 0 || runs.isEmpty { failures.append("job \(number) was never done") }
      }
      cut += runs.count { $0.end == nil }
      for (run, next) in zip(runs, runs.dropFirst()) {
        // A lease begins a little before its run.
        let free = run.end ?? (run.begin + lease - lease / 4)
        if next.begin < free {
          failures.append(
            "job \(number) began again \(next.begin - run.begin) µs after it had begun")
        }
      }
    }
  }
}
