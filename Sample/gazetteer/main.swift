import Glibc
import LarderTerminal

let status = await Program.gazetteer.run(Array(CommandLine.arguments.dropFirst())) {
  error, invocation in
  // A location that is refused was said to be so before.
  let path = invocation.flatMap { try? DatabaseLocation($0).name } ?? ""
  return Failure(describing: error, database: path)
}
exit(status)
