import CLibPQ
import LarderSQLite

/// Makes transactions of the messages of `pgoutput`, which sends each transaction as a whole once it is
/// committed, in the order of the commits.
struct TransactionAssembly {
  /// A transaction that has arrived.
  struct Arrival {
    /// The position of its commit in the log, and the end of that.
    let commit, end: UInt64
    let changes: [RowChange]
    let size: FeedAmount
    /// Whether a table's columns aren't those of before. Its rows may have changed with them, which nobody
    /// reports.
    let isUnknownBefore: Bool
    /// Whether it has emptied a table at once (TRUNCATE).
    let isUnknown: Bool
  }

  private typealias Malformed = ServerValueText.Malformed

  /// The tables that are followed by their own names. A publication may have others.
  private let tables: Set<Oid>
  private let needsWholeRows: Bool
  private let lookUp: ([Oid]) throws -> [ServerType?]
  private let part: (Oid) throws -> FeedPart
  /// Tables whose rows may have been those of a followed one.
  private var doubtful: Set<Oid> = []
  /// The tables as they were sent, or as they were when the feed began; nil for those that aren't followed.
  private var relations: [Oid: FollowedRelation?] = [:]
  private var known: [Oid: [OutputRelation.Column]]
  private var current: (commit: UInt64, changes: [RowChange])?
  private(set) var size = FeedAmount()
  private var isUnknownBefore = false
  private var isUnknown = false

  /// - Parameters:
  ///   - known: the tables' columns when the feed began, apart from which of them are keys; empty if that was
  ///     another process's.
  ///   - needsWholeRows: whether a table that reports only keys of old rows is an error.
  ///   - lookUp: finds types by their numbers; nil for each that can't be read.
  ///   - part: what a table that isn't followed by its own name is to those that are.
  init(
    of tables: Set<Oid>, known: [Oid: [OutputRelation.Column]], needsWholeRows: Bool = false,
    lookUp: @escaping ([Oid]) throws -> [ServerType?],
    part: @escaping (Oid) throws -> FeedPart = { _ in .none }
  ) {
    self.tables = tables
    self.known = known
    self.needsWholeRows = needsWholeRows
    self.lookUp = lookUp
    self.part = part
  }

  /// The position of the commit of the transaction that is arriving; nil between transactions.
  var commit: UInt64? { current?.commit }

  /// Forgets the transaction that was arriving when the connection was lost. It is sent again, with its
  /// tables.
  mutating func restart() {
    relations = [:]
    (current, size, isUnknownBefore, isUnknown) = (nil, FeedAmount(), false, false)
  }

  /// Takes the next message. Returns the transaction if it is complete.
  mutating func take(_ message: OutputMessage) throws -> Arrival? {
    switch message {
    case .begin(let commit):
      guard current == nil else { throw Malformed() }
      current = (commit, [])
    case .commit(let end):
      guard let done = current else { throw Malformed() }
      defer { (current, size, isUnknownBefore, isUnknown) = (nil, FeedAmount(), false, false) }
      return Arrival(
        commit: done.commit, end: end, changes: done.changes, size: size,
        isUnknownBefore: isUnknownBefore, isUnknown: isUnknown)
    case .relation(let relation): try take(relation)
    case .insert(let table, let new): try append(table) { try $0.inserted(new) }
    case .update(let table, let old, let new): try append(table) { try $0.updated(old, new) }
    case .delete(let table, let old): try append(table) { try $0.deleted(old) }
    case .truncate(let truncated):
      if truncated.contains(where: mayBeFollowed) { isUnknown = true }
    case .other: break
    }
    return nil
  }

  private mutating func append(
    _ table: Oid, _ change: (FollowedRelation) throws -> RowChange
  ) throws {
    guard current != nil, let relation = relations[table] else { throw Malformed() }
    if doubtful.contains(table) { isUnknown = true }
    guard let relation, !isUnknown else { return }
    let made = try change(relation)
    size.changes += 1
    size.bytes += made.byteCount
    current?.changes.append(made)
  }

  private mutating func take(_ relation: OutputRelation) throws {
    doubtful.remove(relation.number)
    var whole: FeedTable.Name?
    if !tables.contains(relation.number) {
      let part = try part(relation.number)
      if case .partition(let table) = part {
        whole = table
      } else {
        if case .doubtful = part { doubtful.insert(relation.number) }
        relations[relation.number] = .some(nil)
        return
      }
    }
    guard relation.hasWholeRows || !needsWholeRows else {
      let name = FeedTable.Name(schema: relation.schema, table: relation.table)
      throw PostgresFailure(SQLState.wrongState, FeedTable.reportsKeyOnly(name))
    }
    let types = try lookUp(relation.columns.map(\.type))
    guard types.count == relation.columns.count else { throw Malformed() }
    relations[relation.number] = FollowedRelation(relation, types: types, of: whole)
    if let known = known[relation.number], !known.elementsEqual(relation.columns, by: Self.areSame)
    {
      isUnknownBefore = true
    }
    known[relation.number] = relation.columns
  }

  /// Whether a table is followed, by its own name or as a part of another, as far as that is known.
  private func mayBeFollowed(_ table: Oid) -> Bool {
    tables.contains(table) || doubtful.contains(table) || relations[table].flatMap { $0 } != nil
  }

  private static func areSame(_ one: OutputRelation.Column, _ other: OutputRelation.Column) -> Bool
  { one.name == other.name && one.type == other.type }
}

/// A number of changes, and their size in bytes.
struct FeedAmount {
  var changes = 0
  var bytes = 0

  static func + (left: FeedAmount, right: FeedAmount) -> FeedAmount {
    FeedAmount(changes: left.changes + right.changes, bytes: left.bytes + right.bytes)
  }

  static func - (left: FeedAmount, right: FeedAmount) -> FeedAmount {
    FeedAmount(changes: left.changes - right.changes, bytes: left.bytes - right.bytes)
  }

  /// The unit in which this amount exceeds a limit; nil if it doesn't.
  func excess(over limit: FeedAmount) -> FeedOverflow.Kind? {
    changes > limit.changes ? .changes : bytes > limit.bytes ? .bytes : nil
  }
}
