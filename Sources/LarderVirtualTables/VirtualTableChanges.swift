import Larder

/// Closures that make the changes of statements that write to a ``VirtualTable``.
///
/// ```swift
/// VirtualTable(
///   "name", "value", primaryKey: "name",
///   changes: VirtualTableChanges(
///     insert: { row in try settings.add(row[0], row[1]) },
///     update: { name, row in try settings.replace(name, by: row[0], row[1]) },
///     delete: { name in try settings.remove(name) }),
///   rows: { _ in settings.rows })
/// ```
///
/// Each closure is called for one row, when the statement comes to it, on the thread that runs the statement.
/// It may query the database. Its errors become the statement's, as for ``TableFunction``; for an existing
/// key, throw a `DatabaseError` with `ResultCode.constraint`. `OR REPLACE` and `OR IGNORE` have no effect.
/// Statements whose closure is missing throw `ResultCode.readOnly`.
///
/// **SQLite can't roll back what the closures have done**: neither with a transaction or savepoint, nor for a
/// statement that fails at its third row. If the changes can be undone, pass `transaction`, which is told
/// when.
public struct VirtualTableChanges: Sendable {
  /// The steps of the transaction in which a table is written; see
  /// [The xBegin Method](https://www.sqlite.org/vtab.html#xBegin).
  public enum Step: Hashable, Sendable {
    /// The first change of a transaction is about to be made.
    case begin
    /// The transaction is about to be committed. An error rolls it back; this is the last step that can
    /// throw.
    case prepare
    /// The transaction is committed. Errors are ignored.
    case commit
    /// The transaction is rolled back. Errors are ignored.
    case rollback
    /// A savepoint with this number begins, after rows have been changed. Statements also begin savepoints.
    case savepoint(Int)
    /// The savepoint with this number and all with greater numbers end. Their changes stay.
    case release(Int)
    /// Changes since the savepoint with this number are undone. If its number was never told, it is older
    /// than the first change: undo all since the savepoint with the next greater number or, if there is none,
    /// since ``begin``.
    case rollbackTo(Int)
  }

  typealias Insert = @Sendable (_ row: [DatabaseValue]) throws -> Void
  typealias Update = @Sendable (_ key: DatabaseValue, _ row: [DatabaseValue]) throws -> Void
  typealias Delete = @Sendable (_ key: DatabaseValue) throws -> Void

  let insert: Insert?
  let update: Update?
  let delete: Delete?
  let transaction: (@Sendable (Step) throws -> Void)?

  /// Closures for changes. A row is the list of all columns' values, with the columns' types.
  ///
  /// - `insert`: adds a row.
  /// - `update`: replaces the row with this primary key by another one, whose key may differ.
  /// - `delete`: removes the row with this primary key.
  /// - `transaction`: is told of each step of the transaction. It can't use the database.
  public init(
    insert: (@Sendable (_ row: [DatabaseValue]) throws -> Void)? = nil,
    update: (@Sendable (_ key: DatabaseValue, _ row: [DatabaseValue]) throws -> Void)? = nil,
    delete: (@Sendable (_ key: DatabaseValue) throws -> Void)? = nil,
    transaction: (@Sendable (Step) throws -> Void)? = nil
  ) {
    self.insert = insert
    self.update = update
    self.delete = delete
    self.transaction = transaction
  }
}
