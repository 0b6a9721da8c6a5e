import LarderSQLite

/// Hooks that a record runs before it is written and after it is read. Each can throw to refuse, and the
/// operation throws its error. Records that don't adopt it pay nothing.
///
/// An operation with its hooks is one transaction, or a savepoint inside of one:
/// what a hook has written is undone if the operation fails. An update of named
/// columns writes only these, even if a hook has changed others.
///
/// ```swift
/// extension City: RecordHooks {
///   func validate() throws {
///     if population < 0 { throw InvalidCity.negativePopulation }
///   }
/// }
/// ```
public protocol RecordHooks: Record {
  /// Validates a record that is about to be inserted or updated, after the hooks below.
  func validate() throws
  /// Called before a record is inserted, also by an upsert.
  mutating func willInsert(_ db: Database) throws
  /// Called before a record is updated.
  mutating func willUpdate(_ db: Database) throws
  /// Called before a record is deleted, but not when a query deletes rows.
  func willDelete(_ db: Database) throws
  /// Called for each record that was read.
  mutating func didFetch() throws
}

extension RecordHooks {
  /// Does nothing.
  public func validate() throws {}
  /// Does nothing.
  public mutating func willInsert(_ db: Database) throws {}
  /// Does nothing.
  public mutating func willUpdate(_ db: Database) throws {}
  /// Does nothing.
  public func willDelete(_ db: Database) throws {}
  /// Does nothing.
  public mutating func didFetch() throws {}
}

/// The hooks of a record type that has some, found once for its table.
@usableFromInline
final class HookCalls<R: Record>: Sendable {
  @usableFromInline let willInsert: @Sendable (inout R, Database) throws -> Void
  @usableFromInline let willUpdate: @Sendable (inout R, Database) throws -> Void
  let willDelete: @Sendable (R, Database) throws -> Void
  private let didFetch: @Sendable (inout R) throws -> Void

  /// Nil for a type without hooks.
  static func ofType() -> HookCalls? {
    guard let type = R.self as? any RecordHooks.Type else { return nil }
    return make(type) as? HookCalls
  }

  private static func make<H: RecordHooks>(_ type: H.Type) -> Any { HookCalls<H>() }

  private init() where R: RecordHooks {
    willInsert = {
      try $0.willInsert($1)
      try $0.validate()
    }
    willUpdate = {
      try $0.willUpdate($1)
      try $0.validate()
    }
    willDelete = { try $0.willDelete($1) }
    didFetch = { try $0.didFetch() }
  }

  func afterFetching(
    _ read: @escaping @Sendable (RecordRow) throws -> R
  ) -> @Sendable (RecordRow) throws -> R {
    { [didFetch] row in
      var record = try read(row)
      try didFetch(&record)
      return record
    }
  }
}
