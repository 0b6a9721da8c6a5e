import CSQLite
import FoundationEssentials

extension Database {
  /// Registers a collation: an order of texts for `COLLATE name`.
  ///
  /// ```swift
  /// try db.createCollation("by_length") { left, right in
  ///   left.count < right.count
  ///     ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
  /// }
  /// ```
  ///
  /// The order has to be a total one and must not change while an index uses it: otherwise the
  /// index no longer finds its rows. See [Collations](https://www.sqlite.org/c3ref/create_collation.html).
  ///
  /// Throws where a statement that is running keeps a collation from being replaced.
  public func createCollation(
    _ name: String, _ compare: @escaping @Sendable (String, String) -> ComparisonResult
  ) throws {
    let handle = try connection.check()
    try checkCollationName(name)
    let collation = Unmanaged.passRetained(Collation(compare))
    // What it replaces is destroyed in this call, and may do anything.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, collation.toOpaque(),
      { data, leftCount, left, rightCount, right in
        guard let data else { return 0 }
        return Unmanaged<Collation>.fromOpaque(data).takeUnretainedValue().compare(
          UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
          UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
      },
      { data in data.map { Unmanaged<Collation>.fromOpaque($0).release() } })
    guard code == SQLITE_OK else {
      // Unlike with functions, the one that failed isn't SQLite's.
      collation.release()
      throw connection.error(code)
    }
  }

  /// Removes a collation. Statements that use it fail from then on.
  public func removeCollation(_ name: String) throws {
    let handle = try connection.check()
    try checkCollationName(name)
    // What it replaces is destroyed in this call, and may do anything.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    let code = sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil)
    guard code == SQLITE_OK else { throw connection.error(code) }
  }

  private func checkCollationName(_ name: String) throws {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a collation's name is not empty and has no NUL")
    }
    guard !["binary", "nocase", "rtrim"].contains(name.lowercased()) else {
      throw DatabaseError(.misuse, "the collation \(name) is SQLite's own")
    }
  }
}

private final class Collation {
  private let body: (String, String) -> ComparisonResult

  init(_ body: @escaping (String, String) -> ComparisonResult) { self.body = body }

  func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    switch body(String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self)) {
    case .orderedAscending: -1
    case .orderedSame: 0
    case .orderedDescending: 1
    }
  }
}
