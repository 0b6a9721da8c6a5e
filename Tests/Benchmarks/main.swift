import TestSupport
import FoundationEssentials
import Glibc

/// Measures Larder against SQLite's C API called by hand in the same binary.
///
///     swift run -c release benchmarks [--only NAME] [--storage memory|wal] [--rows N] [--runs N] [--seconds N]
///       [--json FILE] [--instructions PART]
do {
  if CommandLine.arguments.dropFirst() == ["--version"] {
    print("SQLite \(Reference.version)")
  } else if CommandLine.arguments.count == 4, CommandLine.arguments[1] == LossAtKill.role {
    try LossAtKill.write(CommandLine.arguments[2], CommandLine.arguments[3])
  } else if CommandLine.arguments.dropFirst().first == PeerSide.role {
    try PeerSide.run(Array(CommandLine.arguments.dropFirst(2)))
  } else if CommandLine.arguments.dropFirst().first == MemoryLoad.role {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    try MemoryLoad.run(Array(CommandLine.arguments.dropFirst(2)), folder)
  } else {
    try run(try Options(Array(CommandLine.arguments.dropFirst())))
  }
} catch {
  let message = Array("benchmarks: \(error)\n".utf8)
  _ = write(STDERR_FILENO, message, message.count)
  exit(error is Options.Failure ? 2 : 1)
}

func run(_ options: Options) throws {
  let folder = try ScratchFolder()
  defer { folder.remove() }
  if let (part, count) = options.instructions {
    let benchmarks = Benchmark.ofOneCaller.filter { options.includes($0.name) }.enumerated()
    return try InstructionCount.run(
      benchmarks.filter { $0.offset % count == part - 1 }.map(\.element), folder)
  }
  print(
    "SQLite \(Reference.version), \(options.rows) rows, \(options.runs) runs; ns per row or call")
  let results = try runSingle(options, folder)
  let contention = try runContention(options, folder)
  let figures = try runFigures(options, folder)
  guard !results.isEmpty || !contention.isEmpty || !figures.isEmpty else {
    throw Options.Failure("no benchmark of that name")
  }
  if let file = options.json {
    let rows = results.map(Row.single) + contention.map(Row.contention) + figures.map(Row.figures)
    try JSONEncoder().encode(rows).write(to: URL(fileURLWithPath: file))
  }
}

func runSingle(_ options: Options, _ folder: ScratchFolder) throws -> [Measurement] {
  let benchmarks = Benchmark.ofOneCaller.filter { options.includes($0.name) }
  if !benchmarks.isEmpty { print(Table.header) }
  return try options.storages.flatMap { storage in
    try benchmarks.filter { $0.storages.contains(storage) }.map { benchmark in
      let measurement = try benchmark.measure(
        storage, path: folder.file("\(benchmark.name)-\(storage.rawValue).db"), options)
      print(Table.line(measurement))
      return measurement
    }
  }
}

func runContention(
  _ options: Options, _ folder: ScratchFolder
) throws -> [ContentionMeasurement] {
  let all: [any ThreadBenchmark] =
    Contention.all + TaskContention.all + PoolReadTasks.all + ReadersBesideWriter.all
    + ReadsBesideDurableWriter.all + WritersBesideReplication.all
  let benchmarks = all.filter { options.includes($0.name) }
  if !benchmarks.isEmpty { print("\n" + ContentionMeasurement.header) }
  return try benchmarks.map { benchmark in
    let measurement = try benchmark.measure(
      path: folder.file("\(benchmark.name)-wal.db"), seconds: options.seconds)
    for line in measurement.lines { print(line) }
    return measurement
  }
}

func runFigures(_ options: Options, _ folder: ScratchFolder) throws -> [Figures] {
  let all: [any FigureBenchmark] = [CancelledTasks(), LogBound()]
  // They take minutes, so that they run only if they are named.
  let long: [any FigureBenchmark] = [LossAtKill(), RestoredLog()]
  let benchmarks =
    all.filter { options.includes($0.name) } + long.filter { options.names.contains($0.name) }
  if !benchmarks.isEmpty { print() }
  return try benchmarks.map { benchmark in
    let figures = try benchmark.measure(
      path: folder.file("\(benchmark.name)-wal.db"), seconds: options.seconds)
    print(figures.line)
    return figures
  }
}

/// A row of the JSON file.
enum Row: Encodable {
  case single(Measurement)
  case contention(ContentionMeasurement)
  case figures(Figures)

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .single(let measurement): try measurement.encode(to: encoder)
    case .contention(let measurement): try measurement.encode(to: encoder)
    case .figures(let figures): try figures.encode(to: encoder)
    }
  }
}
