import CSQLite
import FoundationEssentials

// Custom collations.

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
  /// The order has to be total, and mustn't change while an index uses it: otherwise the index no longer
  /// finds its rows. See [Collations](https://www.sqlite.org/c3ref/create_collation.html).
  ///
  /// Throws `ResultCode.misuse` for a name that is empty, contains NUL or is that of a built-in collation,
  /// and `ResultCode.busy` if a running statement keeps the collation from being replaced.
  public func createCollation(
    _ name: String, _ compare: @escaping @Sendable (String, String) -> ComparisonResult
  ) throws {
    try register(name, Unmanaged.passRetained(Collation(compare)))
  }

  /// Removes a collation. Statements that use it fail from then on. Throws like ``createCollation(_:_:)``.
  public func removeCollation(_ name: String) throws {
    try register(name, nil)
  }

  /// Registers a closure that makes collations on demand: when a statement is compiled that uses an
  /// unregistered one, for example in a database whose collations aren't all known.
  ///
  /// ```swift
  /// try db.createCollation { name in
  ///   // de_DE, zh_Hans …
  ///   let locale = Locale(identifier: name)
  ///   return { $0.compare($1, locale: locale) }
  /// }
  /// ```
  ///
  /// The closure gets the name as the statement or the schema spells it, whoever wrote that. It returns nil
  /// for an unknown collation, which makes the statement throw. It can't use the database. A collation that
  /// it returns must satisfy the rules of ``createCollation(_:_:)``, and stays registered. A connection has
  /// one such closure at a time. See
  /// [Collation Needed Callbacks](https://www.sqlite.org/c3ref/collation_needed.html).
  ///
  /// Throws ``DatabaseError`` if the database is closed, and ``UnsupportedByEngine`` if the engine isn't
  /// SQLite.
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
    // Unlike functions, SQLite doesn't release a collation whose registration fails.
    var code = SQLITE_ERROR
    defer { if code != SQLITE_OK { collation?.release() } }
    let handle = try connection.sqlite()
    try checkCollationName(name)
    // The replaced collation is released in this call, which may run any code.
    connection.callDepth += 1
    defer { connection.callDepth -= 1 }
    code = Collation.register(collation, as: name, on: handle)
    guard code == SQLITE_OK else { throw connection.error(code) }
  }

  private func checkCollationName(_ name: String) throws {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a collation's name can't be empty or contain a NUL")
    }
    guard !["binary", "nocase", "rtrim"].contains(name.lowercased()) else {
      throw DatabaseError(.misuse, "SQLite's own collation \(name) can't be replaced")
    }
  }
}

private final class Collation {
  private let body: (String, String) -> ComparisonResult

  init(_ body: @escaping (String, String) -> ComparisonResult) { self.body = body }

  /// Hands a collation over to SQLite, which releases it if this succeeds. Nil removes the collation.
  static func register(
    _ collation: Unmanaged<Collation>?, as name: String, on handle: OpaquePointer?
  ) -> Int32 {
    sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, collation?.toOpaque(), collation == nil ? nil : compare,
      { data in data.map { Unmanaged<Collation>.fromOpaque($0).release() } })
  }

  /// The comparison that SQLite calls, with the collation as its data.
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

/// Collations that are made when a statement needs them. SQLite has an unretained pointer to this object: the
/// connection keeps the object until it is replaced or the handle is closed.
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

  /// Makes and registers a collation. If it isn't registered, the statement fails.
  fileprivate func register(_ name: String, on handle: OpaquePointer?) {
    // A statement is being compiled, so the connection mustn't be used.
    connection?.block(.hook)
    let compare = needed(name)
    connection?.unblock(.hook)
    guard let compare else { return }
    let collation = Unmanaged.passRetained(Collation(compare))
    if Collation.register(collation, as: name, on: handle) != SQLITE_OK { collation.release() }
  }
}
