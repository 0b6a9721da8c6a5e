/// A database with dates in the forms of many programs, money, and columns with few values; and the part of the
/// program of ``GeneratedProgram`` that reads and writes them.
enum ExactSchema {
  /// The forms of dates, each with texts that have to stay as they are.
  static let dates: KeyValuePairs = [
    "rails": ["2024-01-02 03:04:05.123456", "1883-11-18 12:03:58.000001"],
    "django": ["2024-01-02 03:04:05.123450", "2038-01-19 03:14:08"],
    "python": ["2024-01-02T03:04:05.999999+00:00", "0001-01-01T00:00:00+00:00"],
    "india": ["2024-01-02T03:04:05.000001+05:30", "2024-01-02T03:04:05.000002+05:30"],
    "dotnet": ["2024-01-02 03:04:05.1", "1999-12-31 23:59:59.99999"],
    "sequelize": ["2024-01-02 03:04:05.678 +00:00", "1969-12-31 23:59:59.999 +00:00"],
    "local": ["2024-01-02T03:04:05", "9999-12-31T23:59:59"],
  ]

  static var sql: String {
    let columns = dates.map { "\($0.key) DATETIME" }.joined(separator: ", ")
    let rows = (0..<2).map { row in
      "(\(row + 1), \(dates.map { "'\($0.value[row])'" }.joined(separator: ", ")))"
    }
    return """
      CREATE TABLE moments (id INTEGER PRIMARY KEY, \(columns));
      INSERT INTO moments VALUES \(rows.joined(separator: ", "));
      CREATE TABLE payments (id INTEGER PRIMARY KEY, amount DECIMAL(10,2) NOT NULL DEFAULT 0, rate NUMERIC DEFAULT 0.19,
        status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'on hold', 'none')),
        class TEXT CHECK (class IN ('default', 'a')));
      INSERT INTO payments VALUES (1, 19.99, 0.1, 'open', NULL), (2, -3, 1e10, 'none', 'default'),
        (3, 123456789012.34, NULL, 'on hold', 'a');
      CREATE TABLE refunds (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES refunds,
        status TEXT CHECK (status IN ('open', 'on hold', 'none')));
      INSERT INTO refunds VALUES (1, NULL, NULL), (2, 1, 'open');
      """
  }

  static let program = #"""
    do {
      typealias S = Exact
      let db = try Database(path: "exact.db")
      try count("Exact", [S.Moment.self, S.Payment.self, S.Refund.self], in: db)
      func rows(_ table: String) throws -> [[DatabaseValue]] {
        try db.executeQuery(SQL(raw: "SELECT * FROM \(table)")).map { row in
          try (0..<row.columnCount).map { try row.get(at: $0) }
        }
      }
      let before = try (rows("moments"), rows("payments"), rows("refunds"))
      for var record in try S.Moment.all.fetchAll(db) { try record.update(db) }
      for var record in try S.Payment.all.fetchAll(db) { try record.update(db) }
      for var record in try S.Refund.all.fetchAll(db) { try record.update(db) }
      expect(try rows("moments"), before.0)
      expect(try rows("payments"), before.1)
      expect(try rows("refunds"), before.2)
      let moment = try S.Moment.find(db, 1)
      expect(moment.india?.timeIntervalSince1970.rounded(), 1_704_144_845)
      expect(try S.Moment.filter { $0.rails == moment.rails }.fetchAll(db).map(\.id), [1])
      expect(try S.Moment.filter { $0.django > moment.django }.fetchAll(db).map(\.id), [2])
      expect(try S.Payment.find(db, 1).amount.description, "19.99")
      expect(try S.Payment.filter { $0.status == .onHold }.fetchAll(db).map(\.id), [3])
      expect(try S.Payment.find(db, 2).`class`, .`default`)
      var payment = S.Payment(id: nil, amount: 7, rate: nil, class: nil)
      try payment.insert(db)
      expect(try S.Payment.find(db, payment.id).status, .open)
      expect(try S.Refund.all.fetchAll(db, with: S.Refund.children).map(\.1.count), [1, 0])
      try db.executeUpdate("UPDATE moments SET rails = '2024-01-02 03:04:05' WHERE id = 1")
      expect((try? S.Moment.find(db, 1)) == nil, true)
    }
    """#
}
