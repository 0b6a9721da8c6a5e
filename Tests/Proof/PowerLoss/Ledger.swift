import Larder

/// What many callers have written, and what it must be: transactions number themselves in the order
/// of their commits, so that what is left tells which of them it holds.
struct Ledger {
  private struct DocumentKey: Hashable {
    let caller: Int
    let number: Int
    let piece: Int
  }

  private var balances = [Int](repeating: 0, count: CallerAction.accounts)
  private var documents: [DocumentKey: [UInt8]] = [:]
  private var seats: [Int: Int] = [:]

  /// Makes the tables, in a transaction of the founder's.
  static func found(_ db: Database, seed: UInt64) throws -> Int {
    try db.executeStatements(
      """
      CREATE TABLE journal (position INTEGER PRIMARY KEY, caller INTEGER NOT NULL,
        number INTEGER NOT NULL);
      CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
      CREATE TABLE document (caller INTEGER, number INTEGER, piece INTEGER, body BLOB NOT NULL,
        PRIMARY KEY (caller, number, piece));
      CREATE TABLE seat (id INTEGER PRIMARY KEY, position INTEGER NOT NULL);
      """)
    for id in 1...CallerAction.accounts {
      try db.executeUpdate("INSERT INTO account VALUES (?, 0)", id)
    }
    return try CallerAction(seed: seed, caller: CallerAction.founder, number: 0).run(db)
  }

  /// How many transactions there are.
  static func lastPosition(_ db: Database) throws -> Int {
    try db.value("SELECT max(position) FROM journal", as: Int?.self).flatMap { $0 } ?? 0
  }

  /// What is wrong with a database whose callers began at this seed and were told this.
  static func fault(_ db: Database, seed: UInt64, _ marks: Marks) throws -> String? {
    let least = max(marks.acknowledged, marks.told)
    guard try db.tableExists("journal") else {
      return least == 0 ? nil : "the tables are missing, and \(least) transactions"
    }
    let entries = try db.executeQuery("SELECT * FROM journal ORDER BY position").map {
      (
        position: try $0.get(at: 0, as: Int.self), caller: try $0.get(at: 1, as: Int.self),
        number: try $0.get(at: 2, as: Int.self)
      )
    }
    guard entries.map(\.position) == Array(1...max(1, entries.count)) else {
      return "there are holes among the transactions"
    }
    guard entries.count >= least else {
      return "\(entries.count) transactions are left, and \(marks.acknowledged) were acknowledged "
        + "and \(marks.told) told"
    }
    var expected = Ledger()
    for entry in entries {
      let action = CallerAction(seed: seed, caller: entry.caller, number: entry.number)
      expected.apply(action, position: entry.position)
    }
    let lost = marks.collided.subtracting(expected.seats.keys).sorted()
    guard lost.isEmpty else { return "the seats \(lost) were said to be taken, and are free" }
    return try expected.difference(db).map {
      "\($0) are not as they were after transaction \(entries.count)"
    }
  }

  private mutating func apply(_ action: CallerAction, position: Int) {
    switch action.kind {
    case .pay: balances[action.account - 1] += 1
    case .store:
      for (piece, document) in action.documents.enumerated() {
        let key = DocumentKey(caller: action.caller, number: action.number, piece: piece)
        documents[key] = document
      }
    case .clear:
      documents = documents.filter {
        $0.key.caller != action.caller || $0.key.number % 2 != action.number % 2
      }
    case .sit: seats[action.seat] = position
    case .note, .statement, .read, .regret, .decline, .checkpoint: break
    }
  }

  /// What of a database differs.
  private func difference(_ db: Database) throws -> String? {
    let found = try db.executeQuery("SELECT balance FROM account ORDER BY id").map {
      try $0.get(at: 0, as: Int.self)
    }
    if found != balances { return "the accounts" }
    var left: [DocumentKey: [UInt8]] = [:]
    try db.executeQuery("SELECT * FROM document").forEach { row in
      let key = DocumentKey(
        caller: try row.get(at: 0, as: Int.self), number: try row.get(at: 1, as: Int.self),
        piece: try row.get(at: 2, as: Int.self))
      left[key] = try row.get(at: 3, as: [UInt8].self)
    }
    if left != documents { return "the documents" }
    var taken: [Int: Int] = [:]
    try db.executeQuery("SELECT * FROM seat").forEach { row in
      taken[try row.get(at: 0, as: Int.self)] = try row.get(at: 1, as: Int.self)
    }
    return taken == seats ? nil : "the seats"
  }
}
