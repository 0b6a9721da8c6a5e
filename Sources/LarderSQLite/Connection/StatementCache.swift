/// Keeps prepared statements for their next use.
///
/// A statement is marked while it is in use; whoever asks for the same SQL meanwhile gets one of
/// its own. When the cache is full, the statement that has not been used for longest makes room.
final class StatementCache {
  /// How many statements are kept at most.
  var capacity: Int {
    didSet {
      capacity = max(0, capacity)
      trim(to: capacity)
    }
  }
  @exclusivity(unchecked) private(set) var statistics = StatementCacheStatistics()
  /// The statements by the hashes of their texts. Should two texts have the same one, then the
  /// second isn't kept.
  @exclusivity(unchecked) private var statements: [Int: PreparedStatement] = [:]

  /// The last statement asked for: the same is mostly asked for again, and comparing two strings
  /// that share their storage costs less than hashing one.
  @exclusivity(unchecked) private var last: PreparedStatement?
  @exclusivity(unchecked) private var clock = 0

  /// The statements that begin and end transactions, which always stay.
  @exclusivity(unchecked) var controls = [PreparedStatement?](
    repeating: nil, count: TransactionControl.allCases.count)
  {
    didSet { references = controls.map { $0.map(Unmanaged.passUnretained) } }
  }

  /// The same, not retained. What makes it sound: ``controls`` keeps them, and is changed only while none of
  /// them runs. To count the references of each that runs takes a tenth of an empty transaction.
  @exclusivity(unchecked) private var references: [Unmanaged<PreparedStatement>?] = []

  /// One of the statements that begin and end transactions, if it is compiled.
  @inline(__always)
  func reference(to control: TransactionControl) -> Unmanaged<PreparedStatement>? {
    references.isEmpty ? nil : references[control.rawValue]
  }

  /// The statements of ``FixedSQL``, each at its number; these stay too, as there are only so many.
  @exclusivity(unchecked) private var fixed: [PreparedStatement?] = []

  /// Whether those that end scopes are among them.
  @exclusivity(unchecked) var canEndScopes = false

  init(capacity: Int) { self.capacity = max(0, capacity) }

  /// An idle statement with this text, now in use.
  func take(_ sql: String) -> PreparedStatement? {
    if let last, last.sql.isSame(as: sql), !last.isInUse { return use(last) }
    return sql.withBytes { find($0) }
  }

  /// An idle statement whose text has these bytes, now in use.
  func take(_ sql: UnsafeBufferPointer<UInt8>) -> PreparedStatement? {
    if let last, last.sql.hasBytes(sql), !last.isInUse { return use(last) }
    return find(sql)
  }

  private func find(_ sql: UnsafeBufferPointer<UInt8>) -> PreparedStatement? {
    guard let statement = statements[Self.hash(sql)], !statement.isInUse,
      statement.sql.hasBytes(sql)
    else {
      statistics.misses += 1
      return nil
    }
    last = statement
    return use(statement)
  }

  @inline(__always)
  private func use(_ statement: PreparedStatement) -> PreparedStatement {
    statistics.hits += 1
    statement.isInUse = true
    return statement
  }

  private static func hash(_ sql: UnsafeBufferPointer<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(sql))
    return hasher.finalize()
  }

  /// The statement with this number, now in use.
  @inline(__always)
  func take(slot: Int) -> PreparedStatement? {
    guard slot < fixed.count, let statement = fixed[slot], !statement.isInUse else { return nil }
    statement.isInUse = true
    return statement
  }

  /// Keeps a new statement that is in use at a number, unless there is one already.
  func add(_ statement: PreparedStatement, slot: Int) {
    statement.isInUse = true
    while fixed.count <= slot { fixed.append(nil) }
    guard fixed[slot] == nil else { return }
    statement.lastUse = 0
    fixed[slot] = statement
  }

  /// Keeps a new statement that is in use, if there is room or something to drop for it.
  func add(_ statement: PreparedStatement) {
    statement.isInUse = true
    guard capacity > 0 else { return }
    let hash = statement.sql.withBytes(Self.hash)
    guard statements[hash] == nil else { return }
    trim(to: capacity - 1)
    guard statements.count < capacity else { return }
    clock += 1
    statement.lastUse = clock
    statements[hash] = statement
    last = statement
  }

  /// Takes a statement back. False if it isn't kept here, and has to be finalized by the caller.
  @inline(__always)
  func giveBack(_ statement: PreparedStatement) -> Bool {
    statement.isInUse = false
    guard statement.lastUse != nil else { return false }
    clock &+= 1
    statement.lastUse = clock
    if statements.count > capacity { trim(to: capacity) }
    return statement.lastUse != nil || statement.handle == nil
  }

  /// Finalizes all that aren't in use, and forgets the others.
  func removeAll() {
    for statement in statements.values { drop(statement, evicted: false) }
    for case let statement? in fixed {
      statement.lastUse = nil
      if !statement.isInUse { statement.finalize() }
    }
    fixed = []
  }

  /// The same with the statements of scopes too, before the connection is closed.
  func close() {
    removeAll()
    for index in controls.indices {
      controls[index]?.finalize()
      controls[index] = nil
    }
    canEndScopes = false
  }

  private func trim(to count: Int) {
    while statements.count > count {
      // A hundred comparisons cost little beside the compilation that made it necessary.
      let idle = statements.values.filter { !$0.isInUse }
      guard let oldest = idle.min(by: { ($0.lastUse ?? 0) < ($1.lastUse ?? 0) }) else { return }
      drop(oldest, evicted: true)
    }
  }

  private func drop(_ statement: PreparedStatement, evicted: Bool) {
    statements[statement.sql.withBytes(Self.hash)] = nil
    statement.lastUse = nil
    if last === statement { last = nil }
    if !statement.isInUse { statement.finalize() }
    if evicted { statistics.evictions += 1 }
  }

  var count: Int { statements.count }
}

/// What a connection's statement cache has done so far.
public struct StatementCacheStatistics: Hashable, Sendable {
  /// How often a compiled statement was there.
  public internal(set) var hits = 0
  /// How often a statement had to be compiled.
  public internal(set) var misses = 0
  /// How many statements were dropped to make room.
  public internal(set) var evictions = 0
  /// The number of statements in the cache.
  public internal(set) var count = 0
}
