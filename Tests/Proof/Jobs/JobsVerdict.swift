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
  private var jobs: [[Run]]

  /// - Parameter count: the jobs have the numbers below.
  init(_ journal: Data, _ count: Int) {
    jobs = Array(repeating: [], count: count)
    // As bytes: a million jobs write a hundred megabytes.
    journal.withUnsafeBytes { bytes in
      for line in bytes.split(separator: UInt8(ascii: "\n")) { read(line) }
    }
  }

  private mutating func read(_ line: Slice<UnsafeRawBufferPointer>) {
    let words = line.split(separator: UInt8(ascii: " "))
    guard words.count == 5, let event = words[0].first, let number = Self.number(words[1]),
      let process = Self.number(words[3]), let time = Self.number(words[4])
    else {
      failures.append("a line of the journal: \(String(decoding: line, as: UTF8.self))")
      return
    }
    // “killed” names no job.
    guard event != UInt8(ascii: "k") else { return }
    guard jobs.indices.contains(number) else {
      failures.append("a job that wasn't put in: \(number)")
      return
    }
    if event == UInt8(ascii: "b") {
      jobs[number].append(Run(process: process, begin: time))
      runs += 1
      return
    }
    guard let last = jobs[number].lastIndex(where: { $0.process == process }) else { return }
    switch event {
    case UInt8(ascii: "d"): jobs[number][last].isDone = true
    default: jobs[number][last].end = time
    }
  }

  private static func number(_ digits: some Sequence<UInt8>) -> Int? {
    var number = 0
    for digit in digits {
      guard digit >= 48, digit <= 57 else { return nil }
      number = number * 10 + Int(digit - 48)
    }
    return number
  }

  mutating func check(lease: Duration) {
    let lease = Int(lease / .microseconds(1))
    for (number, found) in jobs.enumerated() {
      let runs = found.sorted { $0.begin < $1.begin }
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
