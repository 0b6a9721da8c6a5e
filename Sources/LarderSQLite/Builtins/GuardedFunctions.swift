import CSQLite

/// Guards for some of SQLite's own functions, on connections to files from elsewhere. Functions
/// whose time grows with the product of their arguments' lengths, or with a number among them,
/// refuse arguments that would keep one call busy for more than a moment. Others are costly only by
/// many calls in a row or in one expression, between which SQLite doesn't check the deadline: they
/// check it.
///
/// A replaced function can't be called any more, so ``ReplacedFunctions`` does the work.
///
/// The unsafe pointers are sound: SQLite owns the objects behind its functions, and releases them
/// when the connection is closed; arguments are valid for one call, and no copy outlives it.
final class GuardedFunctions {
  private let functions = ReplacedFunctions()
  private let deadlines: DeadlineHandler

  private init(_ deadlines: DeadlineHandler) { self.deadlines = deadlines }

  /// Replaces the functions on a connection.
  static func install(on handle: OpaquePointer, _ deadlines: DeadlineHandler) throws {
    let calls = GuardedFunctions(deadlines)
    let isOlder = sqlite3_libversion_number() < 3_038_000
    // A function that the library doesn't have stays unknown.
    for (name, argumentCount, cost) in guarded where name != "format" || !isOlder {
      let function = GuardedFunction(name: name, cost: cost, calls: calls)
      // SQLite owns the function from here on and releases it, also when this call fails.
      let code = sqlite3_create_function_v2(
        handle, name, argumentCount, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
        Unmanaged.passRetained(function).toOpaque(),
        { context, count, values in
          guard let data = sqlite3_user_data(context) else { return }
          Unmanaged<GuardedFunction>.fromOpaque(data).takeUnretainedValue()
            .call(context, count, values)
        }, nil, nil,
        { data in data.map { Unmanaged<GuardedFunction>.fromOpaque($0).release() } })
      guard code == SQLITE_OK else {
        throw DatabaseError(ResultCode(rawValue: code), "out of memory")
      }
    }
  }

  fileprivate typealias Cost = @Sendable ([OpaquePointer?]) -> Int

  /// The names, the numbers of arguments, and about how many elementary steps a call takes. A
  /// billion steps take less than a second.
  private static let guarded: [(String, Int32, Cost)] = [
    ("replace", 3, { bytes($0[0]) * bytes($0[1]) / 16 }),
    ("trim", 2, { bytes($0[0]) * bytes($0[1]) }),
    ("ltrim", 2, { bytes($0[0]) * bytes($0[1]) }),
    ("rtrim", 2, { bytes($0[0]) * bytes($0[1]) }),
    ("json_patch", 2, { bytes($0[0]) * bytes($0[1]) / 32 }),
    ("printf", -1, { repeatedCharacters($0) }),
    ("format", -1, { repeatedCharacters($0) }),
    ("like", 2, { _ in 0 }), ("like", 3, { _ in 0 }), ("glob", 2, { _ in 0 }),
    ("hex", 1, { _ in 0 }), ("quote", 1, { _ in 0 }), ("lower", 1, { _ in 0 }),
    ("upper", 1, { _ in 0 }),
  ]
  static let largestCost = 1 << 28

  private static func bytes(_ value: OpaquePointer?) -> Int { Int(sqlite3_value_bytes(value)) }

  /// The largest number of times that a `%c` of a format repeats its character. Its precision says
  /// so, and no limit of SQLite's bounds it. If that is a `*`, it may be any number among the
  /// arguments.
  private static func repeatedCharacters(_ values: [OpaquePointer?]) -> Int {
    guard let format = values.first.flatMap({ sqlite3_value_text($0) }) else { return 0 }
    var position = format
    var largest = 0
    while position.pointee != 0 {
      defer { position += 1 }
      guard position.pointee == UInt8(ascii: "%") else { continue }
      var number = 0
      var takesArgument = false
      position += 1
      conversion: while true {
        switch position.pointee {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          number = min(number * 10 + Int(position.pointee - UInt8(ascii: "0")), 1 << 40)
        case UInt8(ascii: "*"): takesArgument = true
        case UInt8(ascii: "."): number = 0
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: " "), UInt8(ascii: "#"),
          UInt8(ascii: "!"), UInt8(ascii: ","), UInt8(ascii: "l"):
          break
        default: break conversion
        }
        position += 1
      }
      if position.pointee == 0 { break }
      guard position.pointee == UInt8(ascii: "c") else { continue }
      largest = max(largest, number)
      guard takesArgument else { continue }
      for value in values.dropFirst() {
        // SQLite truncates the number to 32 bits, and makes it positive.
        largest = max(largest, Int(Int32(truncatingIfNeeded: sqlite3_value_int64(value)).magnitude))
      }
    }
    // A character takes 5 ns.
    return largest * 8
  }

  /// Calls SQLite's function of this name.
  fileprivate func call(
    _ name: String, _ context: OpaquePointer?, _ arguments: [OpaquePointer?]
  ) {
    guard !deadlines.isOver() else {
      sqlite3_result_error_code(context, SQLITE_INTERRUPT)
      return
    }
    functions.call(name, context, arguments)
  }
}

/// One of the guarded functions.
private final class GuardedFunction {
  private let name: String
  private let cost: GuardedFunctions.Cost
  private let calls: GuardedFunctions

  init(name: String, cost: @escaping GuardedFunctions.Cost, calls: GuardedFunctions) {
    self.name = name
    self.cost = cost
    self.calls = calls
  }

  func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    let arguments = Array(UnsafeBufferPointer(start: values, count: Int(count)))
    guard cost(arguments) <= GuardedFunctions.largestCost else {
      sqlite3_result_error(context, "\(name) would take too long", -1)
      sqlite3_result_error_code(context, SQLITE_TOOBIG)
      return
    }
    calls.call(name, context, arguments)
  }
}
