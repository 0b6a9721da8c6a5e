import CSQLite

/// Guards for some of SQLite's own functions, on connections to files from elsewhere. Functions whose time
/// grows with the product of their arguments' lengths, or with a number among them, refuse arguments that
/// would keep one call busy for more than a moment. Others are costly only by many calls in a row or in one
/// expression, between which SQLite doesn't check the deadline: they check it.
///
/// A replaced function can't be called any more, so ``ReplacedFunctions`` does the work.
enum GuardedFunctions {
  static func functions(_ deadlines: DeadlineHandler) -> [FunctionEntry] {
    let functions = ReplacedFunctions()
    // A function that the library doesn't have stays unknown.
    let isOlder = sqlite3_libversion_number() < 3_038_000
    return guarded.filter { $0.0 != "format" || !isOlder }.map { name, argumentCount, cost in
      FunctionEntry(name, argumentCount, flags: FunctionEntry.harmlessFlags) { call in
        guard cost(call.arguments) <= largestCost else {
          return call.fail("\(name) would take too long", .tooBig)
        }
        if deadlines.isOver() { return call.fail(.interrupt) }
        functions.answer(call, name)
      }
    }
  }

  private typealias Cost = @Sendable ([FunctionArgument]) -> Int

  /// The names, the numbers of arguments, and about how many elementary steps a call takes. A
  /// billion steps take less than a second.
  private static let guarded: [(String, Int32, Cost)] = [
    ("replace", 3, { $0[0].byteCount * $0[1].byteCount / 16 }),
    ("trim", 2, { $0[0].byteCount * $0[1].byteCount }),
    ("ltrim", 2, { $0[0].byteCount * $0[1].byteCount }),
    ("rtrim", 2, { $0[0].byteCount * $0[1].byteCount }),
    ("json_patch", 2, { $0[0].byteCount * $0[1].byteCount / 32 }),
    ("printf", -1, { repeatedCharacters($0) }),
    ("format", -1, { repeatedCharacters($0) }),
    ("like", 2, { _ in 0 }), ("like", 3, { _ in 0 }), ("glob", 2, { _ in 0 }),
    ("hex", 1, { _ in 0 }), ("quote", 1, { _ in 0 }), ("lower", 1, { _ in 0 }),
    ("upper", 1, { _ in 0 }),
  ]
  private static let largestCost = 1 << 28

  /// The largest number of times that a `%c` of a format repeats its character. Its precision says so, and no
  /// limit of SQLite's bounds it. If that is a `*`, it may be any number among the arguments.
  private static func repeatedCharacters(_ arguments: [FunctionArgument]) -> Int {
    // SQLite reads the format to its first NUL.
    guard var rest = arguments.first?.text?.prefix(while: { $0 != 0 }) else { return 0 }
    var largest = 0
    while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
      rest = rest[(sign + 1)...]
      var number = 0
      var takesArgument = false
      conversion: while let byte = rest.first {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          number = min(number * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
        case UInt8(ascii: "*"): takesArgument = true
        case UInt8(ascii: "."): number = 0
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: " "), UInt8(ascii: "#"),
          UInt8(ascii: "!"), UInt8(ascii: ","), UInt8(ascii: "l"):
          break
        default: break conversion
        }
        rest.removeFirst()
      }
      guard rest.popFirst() == UInt8(ascii: "c") else { continue }
      largest = max(largest, number)
      guard takesArgument else { continue }
      for value in arguments.dropFirst() {
        // SQLite truncates the number to 32 bits, and makes it positive.
        largest = max(largest, Int(Int32(truncatingIfNeeded: value.integer).magnitude))
      }
    }
    // A character takes 5 ns.
    return largest * 8
  }
}
