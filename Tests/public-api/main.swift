import Foundation

/// Compares the public API, as the compiler's symbol graphs tell it, with the digests and the page of calls in the
/// tree, or writes these anew.
///
///     public-api SYMBOLS FOLDER PAGE [--accept]

/// Ends the program with a message.
func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}

/// A text's lines without the empty ones.
func lines(of path: String) -> [String] {
  ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
    .split(separator: "\n").map(String.init)
}

/// The lines of `new` that `old` lacks, each as often as it is missing.
func surplus(_ new: [String], over old: [String]) -> [String] {
  var counts: [String: Int] = [:]
  for line in old { counts[line, default: 0] += 1 }
  return new.filter { line in
    counts[line, default: 0] -= 1
    return counts[line, default: 0] < 0
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { fail("usage: public-api SYMBOLS FOLDER PAGE [--accept]") }
let (graphs, folder, page) = (arguments[0], arguments[1], arguments[2])
let accepts = arguments.dropFirst(3).contains("--accept")

let symbols: [Symbol]
do { symbols = try Symbol.all(in: graphs) } catch { fail("\(graphs) can't be read: \(error)") }
let tasks = TaskList(lines: lines(of: "\(folder)/tasks.md"))
var problems = tasks.problems(with: symbols)

var files: [(path: String, lines: [String])] = Dictionary(grouping: symbols, by: \.module)
  .map { ("\(folder)/digests/\($0.key).txt", $0.value.flatMap(\.digest).sorted()) }
  .sorted { $0.0 < $1.0 }
let expected = Set(files.map { URL(fileURLWithPath: $0.path).lastPathComponent })
for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/digests")) ?? []
where !expected.contains(name) {
  problems.append("digests/\(name) is of no product: remove it")
}
let written = tasks.page(of: symbols)

if accepts {
  if !problems.isEmpty { fail(problems.joined(separator: "\n")) }
  do {
    for file in files {
      try (file.lines.joined(separator: "\n") + "\n")
        .write(toFile: file.path, atomically: true, encoding: .utf8)
    }
    try written.write(toFile: page, atomically: true, encoding: .utf8)
  } catch { fail("\(error)") }
  print("Public API: \(symbols.count) symbols of \(files.count) products are accepted.")
  exit(0)
}

for file in files {
  let old = lines(of: file.path)
  let name = URL(fileURLWithPath: file.path).lastPathComponent
  problems += surplus(old, over: file.lines).map { "\(name): gone:  \($0)" }
  problems += surplus(file.lines, over: old).map { "\(name): new:   \($0)" }
}
if problems.isEmpty, (try? String(contentsOfFile: page, encoding: .utf8)) != written {
  problems.append("\(page) isn't what the tasks and the public API make of it")
}
if !problems.isEmpty {
  fail(
    problems.joined(separator: "\n")
      + "\nThe public API has changed. Programs break where a line is gone: say so in CHANGELOG.md, or keep the old"
      + " form as deprecated. Then accept it: Tests/public-api/run --accept")
}
print("Public API: \(symbols.count) symbols are as in the digests and on the page of calls.")
