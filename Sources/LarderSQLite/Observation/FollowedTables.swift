/// The tables whose rows feeds follow, as read under one state of the connection's schema. Rows can be
/// interpreted by them only while that state is current (``KnownSchema``).
struct FollowedTables {
  /// The ``Connection/schemaMark`` under which the tables were read; 0 for none.
  private(set) var mark = 0
  private(set) var wanted: Set<Region.TableName> = []
  private var found: [Region.TableName: FollowedTable] = [:]
  /// The tables' definitions at the last commit; nil for a table that didn't exist.
  private var committed: [Region.TableName: String?] = [:]
  /// Whether `committed` has the definitions that were found last.
  private var isCommitted = true
  /// The tables that couldn't be read the last time.
  private var unread: Set<Region.TableName> = []

  subscript(name: Region.TableName) -> FollowedTable? { found[name] }

  /// Replaces the set of followed tables. They are read at the next look.
  mutating func want(_ names: Set<Region.TableName>) {
    if names != wanted { mark = 0 }
    wanted = names
  }

  /// Reads the tables from one snapshot, and keeps those that were read under the same state of the schema.
  /// Throws if a required table can't be followed.
  mutating func look(
    requiring required: Set<Region.TableName> = [], on database: Database, at mark: Int
  ) throws {
    var tables: [Region.TableName: FollowedTable] = [:]
    var unread: Set<Region.TableName> = []
    for name in wanted {
      do {
        let known = lookedAt == mark ? found[name] : nil
        tables[name] = try known ?? FollowedTable(name, of: database)
      } catch {
        if required.contains(name) { throw error }
        // A dropped table is reported to its feed. A table that can't be read now is retried later.
        if (error as? DatabaseError)?.code != .error { unread.insert(name) }
      }
    }
    found = tables
    self.unread = unread
    lookedAt = mark
    isCommitted = false
    self.mark = unread.isEmpty ? mark : 0
  }

  /// The mark under which `found` was read, whether or not other tables are wanted since.
  private var lookedAt = 0

  /// Whether a table's definition differs from that at the last commit. SQLite doesn't report rows that come
  /// or go with a table, as by DROP and RENAME. A table that is new here doesn't count: its feed begins
  /// later.
  mutating func haveChanged() -> Bool {
    if isCommitted { return false }
    var haveChanged = false
    for name in wanted.subtracting(unread) {
      let definition = found[name]?.definition
      if let before = committed[name] {
        if before != definition { haveChanged = true }
      } else {
        committed[name] = .some(definition)
      }
    }
    return haveChanged
  }

  /// Makes the definitions that were found those of the last commit.
  mutating func commit() {
    if isCommitted { return }
    isCommitted = true
    for name in wanted.subtracting(unread) { committed[name] = .some(found[name]?.definition) }
    if committed.count > wanted.count { committed = committed.filter { wanted.contains($0.key) } }
  }

  /// Forgets all definitions, as after another database was copied into this one.
  mutating func forget() {
    found = [:]
    committed = [:]
    lookedAt = 0
    mark = 0
  }
}
