import FoundationEssentials
import Glibc

/// Measures Larder against SQLite's C API called by hand in the same binary.
///
///     swift run -c release benchmarks [--only NAME] [--rows N] [--runs N] [--json FILE]
do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  try run(options)
} catch {
  let message = Array("benchmarks: \(error)\n".utf8)
  _ = write(STDERR_FILENO, message, message.count)
  exit(error is Options.Failure ? 2 : 1)
}

func run(_ options: Options) throws {
  let folder = try TemporaryFolder()
  defer { folder.remove() }
  print(
    "SQLite \(Reference.version), \(options.rows) rows, \(options.runs) runs; ns per row or call")
  print(Table.header)
  var results: [Measurement] = []
  for storage in Storage.allCases {
    for benchmark in WrapperBenchmarks.all where options.includes(benchmark.name) {
      let measurement = try benchmark.measure(
        storage, path: folder.path(for: benchmark.name, storage), options)
      results.append(measurement)
      print(Table.line(measurement))
    }
  }
  guard !results.isEmpty else { throw Options.Failure("no benchmark of that name") }
  if let file = options.json {
    try JSONEncoder().encode(results).write(to: URL(fileURLWithPath: file))
  }
}
