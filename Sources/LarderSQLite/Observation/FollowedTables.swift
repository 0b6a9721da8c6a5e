/// The tables whose rows feeds want to know, as they are under one state of the connection's schema: whoever tells rows
/// by them has to know that this is still the one (``KnownSchema``).
struct FollowedTables {
  /// The ``Connection/schemaMark`` under which they were looked at; 0 for none.
  private(set) var mark = 0
  private(set) var wanted: Set<Region.TableName> = []
  private var found: [Region.TableName: FollowedTable] = [:]
  /// How those that were looked at were declared at the last commit; nil for a table that there wasn't.
  private var committed: [Region.TableName: String?] = [:]
  /// Whether that is what was found last.
  private var isCommitted = true
  /// Those that couldn't be looked at when that was due.
  private var unread: Set<Region.TableName> = []

  subscript(name: Region.TableName) -> FollowedTable? { found[name] }

  /// Has other tables be looked at from now on.
  mutating func want(_ names: Set<Region.TableName>) {
    if names != wanted { mark = 0 }
    wanted = names
  }

  /// Looks at the tables, all by one snapshot, and keeps what is known already of this state of the schema. Throws where
  /// one that is required can't be followed.
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
        // One that was dropped since is told to its feed; what can't be read now is looked at again.
        if (error as? DatabaseError)?.code != .error { unread.insert(name) }
      }
    }
    found = tables
    self.unread = unread
    lookedAt = mark
    isCommitted = false
    self.mark = unread.isEmpty ? mark : 0
  }

  /// The mark under which those that were found were looked at, whether or not others are wanted since.
  private var lookedAt = 0

  /// Whether one isn't declared any more as it was at the last commit: of rows that came or went with a table, as by DROP
  /// and RENAME, SQLite doesn't tell. The feed of one that wasn't looked at before begins later.
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

  /// Takes what was found for what is committed.
  mutating func commit() {
    if isCommitted { return }
    isCommitted = true
    for name in wanted.subtracting(unread) { committed[name] = .some(found[name]?.definition) }
    if committed.count > wanted.count { committed = committed.filter { wanted.contains($0.key) } }
  }

  /// Forgets what was found, as after another database was copied into this one.
  mutating func forget() {
    found = [:]
    committed = [:]
    lookedAt = 0
    mark = 0
  }
}
