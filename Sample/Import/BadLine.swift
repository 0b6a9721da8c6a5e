/// A line of a file that can't be imported, and why.
struct BadLine: Error {
  let line: Int
  let problem: String
}
