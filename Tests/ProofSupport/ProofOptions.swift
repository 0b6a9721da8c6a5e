/// How a proof is to be run.
package struct ProofOptions {
  /// How many trials to make; the row's own number without one.
  package var count: Int?
  /// When to stop, counted from the start.
  package var seconds: Double?
  /// Where random choices begin.
  package var seed: UInt64 = 1
  /// Whether the result is written as JSON instead of a line to read.
  package var json = false
  /// What follows `--`: for rows that run this program again as another process, or that can be asked for a part.
  package var rest: [String] = []
  private let start = ContinuousClock.now

  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  package init() {}

  package init(_ arguments: some Sequence<String>) throws {
    var left = Array(arguments)[...]
    while let option = left.popFirst() {
      switch option {
      case "--json": json = true
      case "--count": count = try Self.number(left.popFirst(), option)
      case "--seconds": seconds = Double(try Self.number(left.popFirst(), option) as Int)
      case "--seed": seed = try Self.number(left.popFirst(), option)
      case "--":
        rest = Array(left)
        return
      default: throw Failure(description: "unknown option \(option)")
      }
    }
  }

  private static func number<T: FixedWidthInteger>(_ text: String?, _ option: String) throws -> T {
    guard let text, let number = T(text), number >= 0 else {
      throw Failure(description: "\(option) needs a number that isn't negative")
    }
    return number
  }

  /// Whether there is to be another trial after this many.
  package func goesOn(after tried: Int) -> Bool {
    if let count, tried >= count { return false }
    if let seconds, (ContinuousClock.now - start) / .seconds(1) >= seconds { return false }
    return true
  }
}
