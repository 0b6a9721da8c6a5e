import CSQLite
import FoundationEssentials

/// SQL functions for columns of dates as text in several forms:
///
/// - `larder_date(x)`: the milliseconds since 1970 of a text that ``ParsedDate`` reads, exactly
/// - `larder_date_text(x, format)`: such a number as text in a ``DateFormat``, by its raw value
///
/// Any other value is an error. NULL gives NULL.
enum DateFunctions {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_date", 1) {
        let call = FunctionCall($0, $1, $2)
        switch call[0].type {
        case SQLITE_NULL: return call.setResult(call[0])
        case SQLITE_TEXT: break
        default: return call.fail("the value isn't a date as text: \(call[0].string.prefix(40))")
        }
        guard let text = call[0].text else { return call.failForMemory() }
        guard let date = ParsedDate(text) else {
          return call.fail("the text isn't a date: “\(call[0].string.prefix(40))”")
        }
        call.setResult(date.milliseconds)
      },
      FunctionEntry("larder_date_text", 2) {
        let call = FunctionCall($0, $1, $2)
        if call[0].isNull { return call.setResult(call[0]) }
        let format = UInt8(exactly: call[1].integer).flatMap(DateFormat.init)
        let date = Date(timeIntervalSince1970: Double(call[0].integer) / 1000)
        guard let text = try? format?.databaseValue(of: date) else {
          return call.fail(
            "the date can't be written as text: it is outside of the years 0 to 9999")
        }
        call.setResult(text)
      },
    ]
  }
}
