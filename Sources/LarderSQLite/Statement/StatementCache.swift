/// The LRU cache of a connection's prepared statements, for records, queries and SQL written by hand
/// alike. It never holds more than its capacity.
///
/// While there is room, every statement is kept. When the cache is full, a statement is kept only if
/// its text was missed before (an admission filter): it then replaces the least recently used one.
/// Otherwise SQL that never repeats would drive everything else out, and pay for it.
///
/// A statement that is in use stays where it is. A caller that needs the same SQL meanwhile gets a
/// statement of its own, which isn't kept.
final class StatementCache {
  /// How many statements are kept at most.
  var capacity: Int {
    didSet {
      capacity = max(0, capacity)
      while statements.count > capacity, let surplus = leastRecentlyUsed ?? statements.last {
        evict(surplus)
      }
    }
  }
  @exclusivity(unchecked) private var figures = (hits: 0, misses: 0, evictions: 0)
  @exclusivity(unchecked) private var statements: [PreparedStatement] = []
  /// The statements by the hashes of their texts. If two texts have the same hash, the second one isn't kept.
  @exclusivity(unchecked) private var byHash: [Int: PreparedStatement] = [:]
  /// Statements of ``FixedSQL``, each at its number modulo the size. A statement whose place was taken
  /// is found by its text, and takes the place back.
  @exclusivity(unchecked) private var byNumber = [PreparedStatement?](repeating: nil, count: slots)
  private static let slots = 512
  /// The last statement asked for by its text: the same is mostly asked for again, and comparing two
  /// strings that share their storage costs less than hashing one.
  @exclusivity(unchecked) private var last: PreparedStatement?
  @exclusivity(unchecked) private var clock = 0
  /// Statements in use that aren't among ``statements`` any more, or never were.
  @exclusivity(unchecked) private var parked: [PreparedStatement] = []
  /// Hashes of texts that were missed while the cache was full, each at its value modulo the size.
  @exclusivity(unchecked) private var missed: [Int] = []

  init(capacity: Int) { self.capacity = max(0, capacity) }

  var statistics: (hits: Int, misses: Int, evictions: Int, count: Int) {
    (figures.hits, figures.misses, figures.evictions, statements.count)
  }

  /// Takes the last statement that was asked for by its text, for the caller alone, if it matches.
  @inline(__always)
  func takeLast(where isSame: (String) -> Bool) -> PreparedStatement? {
    guard let last, isSame(last.sql), last.isIdle else { return nil }
    return use(last)
  }

  /// Takes the statement that is known by a number, for the caller alone.
  @inline(__always)
  func take(_ number: Int) -> PreparedStatement? {
    lend(number)?.takeUnretainedValue()
  }

  /// Lends the statement that is known by a number to the caller alone, who gives it back.
  ///
  /// Unretained, since counting references took some 50 of a record update's instructions, two of them atomic. The cache
  /// keeps what it has lent: a statement that it removes meanwhile is ``parked``.
  @inline(__always)
  func lend(_ number: Int) -> Unmanaged<PreparedStatement>? {
    guard let statement = byNumber[number & (Self.slots - 1)],
      _fastPath(statement.cacheEntry.number == number && statement.isIdle)
    else { return nil }
    figures.hits &+= 1
    statement.user = .call
    return .passUnretained(statement)
  }

  /// Keeps a statement that isn't kept otherwise until it is given back.
  func park(_ statement: PreparedStatement) { parked.append(statement) }

  /// Finalizes a statement that was given back and isn't kept.
  @inline(never)
  func discard(_ statement: PreparedStatement) {
    statement.finalize()
    guard !parked.isEmpty, let place = parked.lastIndex(where: { $0 === statement }) else { return }
    parked.remove(at: place)
  }

  /// Takes a statement whose text has these bytes, or compiles it, for the caller alone.
  ///
  /// - Parameters:
  ///   - number: the ``FixedSQL`` number for finding it again, or 0.
  ///   - compile: compiles the statement. Its argument says whether the cache will keep the statement.
  func take(
    _ sql: LentBytes, _ number: Int, _ compile: (_ isKept: Bool) throws -> PreparedStatement
  ) rethrows -> PreparedStatement {
    var hasher = Hasher()
    sql.hash(into: &hasher)
    let hash = hasher.finalize()
    let known = byHash[hash]
    if let known, known.isIdle, known.sql.hasBytes(sql) {
      remember(known, number)
      return use(known)
    }
    figures.misses += 1
    let isKept = known == nil && admits(hash)
    let statement = try compile(isKept)
    if isKept { add(statement, hash, number) }
    return statement
  }

  @inline(__always)
  private func use(_ statement: PreparedStatement) -> PreparedStatement {
    figures.hits &+= 1
    statement.user = .call
    return statement
  }

  private func remember(_ statement: PreparedStatement, _ number: Int) {
    guard number > 0 else {
      last = statement
      return
    }
    statement.cacheEntry.number = number
    byNumber[number & (Self.slots - 1)] = statement
  }

  /// Whether a statement that wasn't found should be kept.
  private func admits(_ hash: Int) -> Bool {
    guard statements.count >= capacity else { return true }
    guard capacity > 0 else { return false }
    if missed.isEmpty { missed = Array(repeating: 0, count: 256) }
    let index = hash & 255
    defer { missed[index] = hash }
    return missed[index] == hash
  }

  private func add(_ statement: PreparedStatement, _ hash: Int, _ number: Int) {
    // Code that was told of errors meanwhile may have used the cache.
    guard byHash[hash] == nil else { return }
    if statements.count >= capacity {
      guard let oldest = leastRecentlyUsed else { return }
      evict(oldest)
    }
    statement.cacheEntry = .init(place: statements.count, hash: hash)
    statements.append(statement)
    byHash[hash] = statement
    remember(statement, number)
  }

  /// Counts the compilation of a statement that isn't kept.
  func countMiss() { figures.misses += 1 }

  /// Takes a statement back. False if it isn't kept here, and is to be discarded.
  @inline(__always)
  func giveBack(_ statement: PreparedStatement) -> Bool {
    statement.user = .nobody
    clock &+= 1
    statement.cacheEntry.lastUse = clock
    return statement.cacheEntry.place != nil
  }

  /// Removes statements: finalizes those that aren't in use, and forgets the others.
  func removeAll(where isGone: (PreparedStatement) -> Bool = { _ in true }) {
    for statement in statements where isGone(statement) { remove(statement) }
  }

  /// The idle statement that has been unused for longest; nil if all are in use. Looking at them all
  /// costs little beside the compilation that made it necessary.
  private var leastRecentlyUsed: PreparedStatement? {
    var found: PreparedStatement?
    for statement in statements
    where statement.cacheEntry.lastUse < found?.cacheEntry.lastUse ?? .max && statement.isIdle {
      found = statement
    }
    return found
  }

  private func evict(_ statement: PreparedStatement) {
    remove(statement)
    figures.evictions += 1
  }

  private func remove(_ statement: PreparedStatement) {
    let entry = statement.cacheEntry
    guard let place = entry.place else { return }
    statement.cacheEntry = .init()
    byHash[entry.hash] = nil
    if last === statement { last = nil }
    let slot = entry.number & (Self.slots - 1)
    if byNumber[slot] === statement { byNumber[slot] = nil }
    let moved = statements.removeLast()
    if moved !== statement {
      statements[place] = moved
      moved.cacheEntry.place = place
    }
    if statement.isIdle {
      statement.finalize()
    } else if case .call = statement.user {
      park(statement)
    }
  }
}
