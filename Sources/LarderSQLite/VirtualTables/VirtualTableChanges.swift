/// What is done with rows that statements write to a ``VirtualTable``, by closures.
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
/// Each is called for one row, when the statement comes to it, on the thread that runs the statement. It may query the
/// database. What it throws makes the statement throw as for ``TableFunction``; a key that is there already should be
/// a ``DatabaseError`` with `ResultCode.constraint`. `OR REPLACE` and `OR IGNORE` change nothing about that.
/// Statements that do what there is no closure for throw `ResultCode.readOnly`.
///
/// **SQLite rolls back nothing of what the closures have done**: neither with a transaction or savepoint, nor with a
/// statement that fails at its third row. Who can take it back is told by `transaction` when to.
public struct VirtualTableChanges: Sendable {
  /// What happens to the transaction in which a table is written; see
  /// [The xBegin Method](https://www.sqlite.org/vtab.html#xBegin).
  public enum Step: Hashable, Sendable {
    /// The first change of a transaction is about to be made.
    case begin
    /// The transaction is about to be committed: the last call that can throw, and so have it rolled back.
    case prepare
    /// The transaction is committed; what is thrown is ignored.
    case commit
    /// The transaction is rolled back; what is thrown is ignored.
    case rollback
    /// A savepoint begins, in which rows have been changed already. Statements begin such, too.
    case savepoint(Int)
    /// The savepoint with this number ends, and all with greater ones; what was written stays.
    case release(Int)
    /// What was written since the savepoint with this number began is taken back. If none with this number was told, it is older
    /// than the first change: what was written since the next greater one, or since ``begin``, is taken back.
    case rollbackTo(Int)
  }

  typealias Insert = @Sendable (_ row: [DatabaseValue]) throws -> Void
  typealias Update = @Sendable (_ key: DatabaseValue, _ row: [DatabaseValue]) throws -> Void
  typealias Delete = @Sendable (_ key: DatabaseValue) throws -> Void

  let insert: Insert?
  let update: Update?
  let delete: Delete?
  let transaction: (@Sendable (Step) throws -> Void)?

  /// Changes of rows, which are lists of all columns' values, of the columns' types.
  ///
  /// - `insert`: adds a row.
  /// - `update`: replaces the row with a primary key by another, which may have another key.
  /// - `delete`: removes the row with a primary key.
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
