import Glibc

/// Checks what connections do in a forked process.
///
///     fork-check NAME FOLDER
///
/// Ends with 0 if the check holds; with 1 and a line on standard error for each expectation that
/// doesn't; with 2 if there is no check of that name. The folder takes the database.
///
/// A program of its own because it has one thread. A fork of the process that runs the tests would
/// copy the locks that its other threads hold at that moment, and no thread to release them.
let report = Report()
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let check = arguments.first.flatMap(Check.init),
  let folder = arguments.last
else {
  report.fail("fork-check: not the name of a check and a folder")
  exit(2)
}
do {
  try check.run(in: folder, report)
} catch {
  report.fail("\(error)")
}
exit(report.hasFailed ? 1 : 0)
