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

  /// Has collations made when they are needed: when a statement is compiled that uses one which isn't registered, as
  /// that of a database whose collations aren't all known.
  ///
  /// ```swift
  /// try db.createCollation { name in
  ///   // de_DE, zh_Hans …
  ///   let locale = Locale(identifier: name)
  ///   return { $0.compare($1, locale: locale) }
  /// }
  /// ```
  ///
  /// The closure is called with the name as the statement or the schema spells it, whoever wrote that; nil stands for
  /// a collation that isn't known, which makes the statement throw. It can't use the database. What it returns is as
  /// for ``createCollation(_:_:)``, and stays registered. One closure is known at a time. See
  /// [Collation Needed Callbacks](https://www.sqlite.org/c3ref/collation_needed.html).
  ///
  /// Throws ``DatabaseError`` where the database is closed, and ``UnsupportedByEngine`` where the engine isn't SQLite.
  public func createCollation(
    _ needed:
      @escaping @Sendable (_ name: String) -> (
        @Sendable (String, String) -> ComparisonResult
      )?
  ) throws {
    let handle = try connection.sqlite()
    let collations = NeededCollations(connection, needed)
    connection.hooks.collations = collations
    let code = sqlite3_collation_needed(
      handle, Unmanaged.passUnretained(collations).toOpaque(),
      { data, handle, _, name in
        guard let data, let name else { return }
        Unmanaged<NeededCollations>.fromOpaque(data).takeUnretainedValue()
          .register(String(cString: name), on: handle)
      })
    guard code == SQLITE_OK else { throw connection.error(code) }
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
    code = Collation.register(collation, as: name, on: handle)
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

  /// Hands a collation over to SQLite, which releases it if this succeeds; nil removes one.
  static func register(
    _ collation: Unmanaged<Collation>?, as name: String, on handle: OpaquePointer?
  ) -> Int32 {
    sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, collation?.toOpaque(), collation == nil ? nil : compare,
      { data in data.map { Unmanaged<Collation>.fromOpaque($0).release() } })
  }

  /// What SQLite calls, with the collation as its data.
  private static let compare:
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

/// Collations that are made when a statement needs them. SQLite keeps an unretained pointer to this object: the
/// connection keeps the object as long as the handle, or until there is another.
final class NeededCollations {
  private weak var connection: Connection?
  private let needed: @Sendable (String) -> (@Sendable (String, String) -> ComparisonResult)?

  init(
    _ connection: Connection,
    _ needed: @escaping @Sendable (String) -> (@Sendable (String, String) -> ComparisonResult)?
  ) {
    self.connection = connection
    self.needed = needed
  }

  /// What isn't registered then is an error of the statement.
  fileprivate func register(_ name: String, on handle: OpaquePointer?) {
    // A statement is being compiled, beneath which nothing may change.
    connection?.block(.hook)
    let compare = needed(name)
    connection?.unblock(.hook)
    guard let compare else { return }
    let collation = Unmanaged.passRetained(Collation(compare))
    if Collation.register(collation, as: name, on: handle) != SQLITE_OK { collation.release() }
  }
}
