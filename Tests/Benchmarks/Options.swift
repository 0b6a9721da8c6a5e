/// What the command line asks for.
struct Options {
  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) {
      self.description =
        description
        + "\nusage: benchmarks [--only NAME] [--storage memory|wal] [--rows N] [--runs N] "
        + "[--seconds N] [--json FILE] [--instructions PART]"
    }
  }

  private(set) var names: [String] = []
  private(set) var rows = 200_000
  private(set) var runs = 9
  /// How long a row of several callers runs on each side.
  private(set) var seconds = 1.0
  private(set) var storages = Storage.allCases
  private(set) var json: String?
  /// The part of the rows, such as `1/2`, that run once for their instructions to be counted.
  private(set) var instructions: (part: Int, of: Int)?

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { throw Failure("\(option) needs a value") }
      switch option {
      case "--only": names += value.split(separator: ",").map(String.init)
      case "--storage":
        guard let storage = Storage(rawValue: value) else {
          throw Failure("\(option) is memory or wal")
        }
        storages = [storage]
      case "--rows": rows = try Self.positive(value, Int.init, option)
      case "--runs": runs = try Self.positive(value, Int.init, option)
      case "--seconds": seconds = try Self.positive(value, Double.init, option)
      case "--json": json = value
      case "--instructions":
        let numbers = try value.split(separator: "/").map {
          try Self.positive("\($0)", Int.init, option)
        }
        guard numbers.count == 2, numbers[0] <= numbers[1] else {
          throw Failure("\(option) needs a part such as 1/2")
        }
        instructions = (numbers[0], numbers[1])
      default: throw Failure("unknown option \(option)")
      }
    }
  }

  private static func positive<Number: Numeric & Comparable>(
    _ text: String, _ number: (String) -> Number?, _ option: String
  ) throws -> Number {
    guard let number = number(text), number > 0 else {
      throw Failure("\(option) needs a positive number")
    }
    return number
  }

  func includes(_ name: String) -> Bool { names.isEmpty || names.contains(name) }
}
