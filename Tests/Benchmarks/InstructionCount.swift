import CTableReference
import TestSupport

/// The command's other mode: each row runs without a clock, for `valgrind --tool=callgrind` to count the
/// instructions of ``countedWork(_:)``. `Tests/instructions` runs it.
///
/// Each row's work runs with two numbers of rows on both sides: the difference of the counts is the cost of
/// the rows between. Callgrind writes a file per call, and this prints what each of them is of, in order.
enum InstructionCount {
  /// True while instructions are counted: tables that are large for their times only are then small.
  nonisolated(unsafe) private(set) static var isOn = false

  /// A large table's number of rows. It is the same for both sizes.
  static func tableRows(_ usual: Int) -> Int { isOn ? min(usual, 1000) : usual }

  /// The number of calls of a row whose table doesn't depend on the number of rows.
  static func calls(_ usual: Int, _ rows: Int) -> Int { isOn ? rows : usual }

  static func run(_ benchmarks: [Benchmark], _ folder: ScratchFolder) throws {
    isOn = true
    for benchmark in benchmarks where benchmark.isOnOneThread {
      let storage = benchmark.storages.contains(.memory) ? Storage.memory : .wal
      for rows in [benchmark.countedRows.few, benchmark.countedRows.many] {
        let options = try Options(["--rows", "\(rows)"])
        let path = folder.file("\(benchmark.name)-\(rows).db")
        let players = Player.many(rows)
        func count(_ name: String, _ side: Benchmark.Side) throws {
          // The first time is for caches. Its file isn't read.
          for isRead in [false, true] {
            try side.prepare()
            try countedWork(side.work)
            print(isRead ? "\(name) \(benchmark.count(options)) \(benchmark.name)" : "-")
          }
        }
        try count(
          "c",
          benchmark.makeReference(Reference(path: storage == .wal ? path + "-c" : nil), players))
        try count(
          "larder",
          benchmark.makeLarder(LarderSide(path: storage == .wal ? path : nil), players))
      }
    }
  }
}

/// Work whose instructions are counted.
private struct CountedWork {
  let body: () throws -> Void
  var error: (any Error)?
}

/// Runs a closure in a C function, which callgrind knows by its name: it counts while that runs. The pointer
/// is valid during the call.
func countedWork(_ body: () throws -> Void) throws {
  try withoutActuallyEscaping(body) { try countedWork(escaping: $0) }
}

private func countedWork(escaping body: @escaping () throws -> Void) throws {
  var work = CountedWork(body: body)
  withUnsafeMutablePointer(to: &work) { pointer in
    reference_counted(
      { pointer in
        guard let work = pointer?.assumingMemoryBound(to: CountedWork.self) else { return }
        do { try work.pointee.body() } catch { work.pointee.error = error }
      }, pointer)
  }
  if let error = work.error { throw error }
}
