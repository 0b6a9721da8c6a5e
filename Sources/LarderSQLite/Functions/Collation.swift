import CSQLite
import FoundationEssentials

// Collations of the program's own.

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
  /// Throws `ResultCode.misuse` for a name that is empty, has a NUL or is SQLite's own, and
  /// `ResultCode.busy` where a statement that is running keeps a collation from being replaced.
  public func createCollation(
    _ name: String, _ compare: @escaping @Sendable (String, String) -> ComparisonResult
  ) throws {
    try register(name, Unmanaged.passRetained(Collation(compare)))
  }

  /// Removes a collation. Statements that use it fail from then on. Throws as ``createCollation(_:_:)`` does.
  public func removeCollation(_ name: String) throws {
    try register(name, nil)
  }

  private func register(_ name: String, _ collation: Unmanaged<Collation>?) throws {
    // Unlike with functions, one that isn't registered isn't SQLite's to release.
    var code = SQLITE_ERROR
    defer { if code != SQLITE_OK { collation?.release() } }
    let handle = try connection.sqlite()
    try checkCollationName(name)
    // What it replaces is destroyed in this call, and may do anything.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, collation?.toOpaque(), collation == nil ? nil : Collation.compare,
      { data in data.map { Unmanaged<Collation>.fromOpaque($0).release() } })
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

  /// What SQLite calls, with the collation as its data.
  static let compare:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32 = { data, leftCount, left, rightCount, right in
      guard let data else { return 0 }
      func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
      }
      let collation = Unmanaged<Collation>.fromOpaque(data).takeUnretainedValue()
      return switch collation.body(text(left, leftCount), text(right, rightCount)) {
      case .orderedAscending: -1
      case .orderedSame: 0
      case .orderedDescending: 1
      }
    }
}
