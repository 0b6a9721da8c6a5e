import FoundationEssentials
import LarderSQLite

/// How a column gets the time of a write: see ``ColumnOption/createdAt`` and ``ColumnOption/updatedAt``.
struct ColumnTimestamp: Sendable {
  /// Whether updates leave it as it is.
  let isOfCreation: Bool
  /// The time as an assignment to the column writes it.
  let stored: @Sendable (Date) -> SQLFragment
  /// The time as it is read back, which its column's format may have rounded.
  let kept: @Sendable (Date, DateFormat) throws -> Date

  init<Value>(
    isOfCreation: Bool, _ coding: ColumnCoding<Value>, _ value: @escaping @Sendable (Date) -> Value
  ) {
    self.isOfCreation = isOfCreation
    stored = { SQLFragment(value: CodedValue(value: value($0), coding: coding)) }
    kept = { date, format in
      let stored = try coding.stored(value(date), format)
      // Without a coding of its own, the column has the connection's format.
      if coding.form == .own { return try format.date(from: stored) }
      return try coding.restored(stored) as? Date ?? date
    }
  }

  /// The time now, by the clock of this process, in whole milliseconds, which most formats hold.
  static var now: Date {
    Date(timeIntervalSince1970: (Date().timeIntervalSince1970 * 1000).rounded(.down) / 1000)
  }
}

extension ColumnOption where Value == Date {
  /// The time of the insert. Each insert of a record sets the column, in the record too if it is a variable,
  /// and updates of records leave it as it is.
  ///
  /// The time is that of this process's clock, in whole milliseconds, the same for all rows of a statement.
  /// The property has to be a variable.
  public static var createdAt: Self { .timestamp(isOfCreation: true) { $0 } }
  /// The time of the last write. Each insert and update sets the column, unless the closure of an update
  /// assigns it. Like `createdAt` otherwise.
  public static var updatedAt: Self { .timestamp(isOfCreation: false) { $0 } }
}

extension ColumnOption where Value == Date? {
  /// The time of the insert, as for a column that isn't Optional.
  public static var createdAt: Self { .timestamp(isOfCreation: true) { $0 } }
  /// The time of the last write, as for a column that isn't Optional.
  public static var updatedAt: Self { .timestamp(isOfCreation: false) { $0 } }
}

extension ColumnOption {
  // The compiler finds these for all other types. Without them, its message doesn't say what is wrong.
  /// Not available: only dates are timestamps.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "a timestamp has to be a Date or Date?")
  public static var createdAt: Self { Self { _ in } }
  /// Not available: only dates are timestamps.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "a timestamp has to be a Date or Date?")
  public static var updatedAt: Self { Self { _ in } }
}
