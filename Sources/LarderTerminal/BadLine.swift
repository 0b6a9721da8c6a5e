/// A line of a file that can't be imported, and the reason.
package struct BadLine: Error {
  package let line: Int
  package let problem: String

  package init(line: Int, problem: String) {
    self.line = line
    self.problem = problem
  }
}
