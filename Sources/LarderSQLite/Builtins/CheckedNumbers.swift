import CSQLite

/// SQL functions that wrap assigned expressions, so that no column gets a number that its property
/// can't have: SQLite computes with 64 bits whatever the property's type, and goes on with real numbers
/// after an overflow.
///
/// `larder_integer(x)` and `larder_integer(x, least, greatest)` return an integer as it is, and fail for
/// any other value, as a STRICT table does for a value of another type. `larder_float(x)` rounds to what
/// a Float holds. NULL stays NULL.
enum CheckedNumbers {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_integer", 1) {
        CheckedNumbers.check(FunctionCall($0, $1, $2), .min, .max)
      },
      FunctionEntry("larder_integer", 3) {
        let call = FunctionCall($0, $1, $2)
        CheckedNumbers.check(call, call[1].integer, call[2].integer)
      },
      FunctionEntry("larder_float", 1) {
        let call = FunctionCall($0, $1, $2)
        switch call[0].type {
        case SQLITE_INTEGER, SQLITE_FLOAT: call.setResult(Double(Float(call[0].real)))
        default: call.setResult(call[0])
        }
      },
    ]
  }

  private static func check(_ call: FunctionCall, _ least: Int64, _ greatest: Int64) {
    switch call[0].type {
    case SQLITE_INTEGER where (least...max(least, greatest)).contains(call[0].integer), SQLITE_NULL:
      call.setResult(call[0])
    case SQLITE_INTEGER, SQLITE_FLOAT:
      call.fail("integer overflow: the number is not from \(least) to \(greatest)")
    default: call.fail("the value isn't an integer")
    }
  }
}
