import Foundation
import Larder
import PostgresSupport
import Testing

extension SQLAlchemy {
  /// Queries of SQLAlchemy's tutorial in Larder's types. A comment has the number of lines there. The pages:
  ///
  /// - https://docs.sqlalchemy.org/en/20/tutorial/data_select.html
  /// - https://docs.sqlalchemy.org/en/20/tutorial/data_update.html
  /// - https://docs.sqlalchemy.org/en/20/core/selectable.html#sqlalchemy.sql.expression.Select.cte
  @Suite("Queries of SQLAlchemy's tutorial")
  struct SQLAlchemyQueryTests {
    let library: SQLComparison
    private var db: Database { library.db }

    init() throws { library = SQLComparison(db: try SQLAlchemy.database()) }

    @Test("SQLAlchemy: a count that is selected and ordered by its label")
    func label() throws {
      // There: 5 lines.
      let query = Address.all.group { $0.user }.select { ($0.user, count()) }
        .order { user, addresses in (addresses.desc, user) }

      try library.expect(
        query,
        """
        SELECT "user", count(id) AS addresses FROM address GROUP BY "user"
        ORDER BY addresses DESC, "user"
        """)
    }

    @Test(
      "SQLAlchemy: users with the number of their addresses and the last one, by a lateral join")
    func lateral() throws {
      // There: 14 lines.
      let query = User.join(lateral: { User.addresses($0).order { $0.id.desc }.limit(1) })
        .order { user, _ in user.id }
        .select { ($0.name, User.addresses($0).count, $1.email) }

      try library.expect(
        query,
        """
        SELECT name, (SELECT count(*) FROM address WHERE address.user = u.id), email
        FROM user_account u JOIN address a ON a.user = u.id
        WHERE a.id = (SELECT max(id) FROM address WHERE address.user = u.id) ORDER BY u.id
        """)
    }

    @Test("SQLAlchemy: users joined with the counts of a common table expression")
    func commonTable() throws {
      // There: 8 lines.
      let counts = CommonTable(
        "counts", Address.all.group { $0.user }.select { (count(), $0.user) })
      let query = User.join(common: counts) { $0.id == $1.columns.1 }
        .select { ($0.name, $0.fullname, $1.columns.0) }

      try library.expect(
        query.order { name, _, _ in name },
        """
        WITH counts AS (SELECT count(id) AS number, "user" FROM address GROUP BY "user")
        SELECT name, fullname, number FROM user_account u JOIN counts ON u.id = counts.user
        ORDER BY name
        """)
    }

    @Test("SQLAlchemy: addresses of users of a union, which is a table of the query")
    func union() throws {
      // There: 9 lines.
      let sandy = User.filter { $0.name == "sandy" }.select { ($0.id, $0.name) }
      let spongebob = User.filter { $0.name == "spongebob" }.select { ($0.id, $0.name) }
      let both = CommonTable("both", sandy.union(all: spongebob))
      let query = Address.join(common: both) { $0.user == $1.columns.0 }
        .select { ($1.columns.1, $0.email) }

      try library.expect(
        query.order { ($0, $1) },
        """
        SELECT name, email FROM address a JOIN user_account u ON u.id = a.user
        WHERE name IN ('sandy', 'spongebob') ORDER BY name, email
        """)
    }

    @Test("SQLAlchemy: users with more than one address, by EXISTS with HAVING")
    func existsHaving() throws {
      // There: 7 lines.
      let query = User.filter { User.addresses($0).count > 1 }.select { $0.name }

      try library.expect(
        query,
        """
        SELECT name FROM user_account u WHERE EXISTS (SELECT count(id) FROM address
        WHERE address.user = u.id GROUP BY address.user HAVING count(id) > 1)
        """)
    }

    @Test("SQLAlchemy: the addresses of each user are numbered")
    func window() throws {
      // There: 9 lines.
      let query = User.join(Address.self) { $0.id == $1.user }
        .select { (rowNumber().over(partitionBy: $0.name, orderBy: $1.id), $0.name, $1.email) }

      try library.expect(
        query.order { _, _, email in email },
        """
        SELECT row_number() OVER (PARTITION BY name ORDER BY a.id), name, email
        FROM user_account u JOIN address a ON u.id = a.user ORDER BY email
        """)
    }

    @Test("SQLAlchemy: counts with a filter each")
    func filteredAggregates() throws {
      // There: 10 lines.
      let query = User.join(Address.self) { $0.id == $1.user }.select { user, address in
        (
          address.email.count().filter(where: user.name == "sandy"),
          address.email.count().filter(where: user.name == "spongebob")
        )
      }

      try library.expect(
        query,
        """
        SELECT count(email) FILTER (WHERE name = 'sandy'), count(email) FILTER (WHERE name = 'spongebob')
        FROM user_account u JOIN address a ON u.id = a.user
        """)
    }

    @Test("SQLAlchemy: an update with a correlated subquery")
    func correlatedUpdate() throws {
      try library.expectChange(
        of: "SELECT * FROM user_account ORDER BY id",
        """
        UPDATE user_account SET fullname = (SELECT email FROM address
        WHERE address.user = user_account.id ORDER BY address.id LIMIT 1)
        """
      ) { db in
        // There: 8 lines.
        try User.all.update(db) { user in
          let id = user.id
          user.fullname = first(
            of: Address.filter { $0.user == id }.order { $0.id }.select { $0.email })
        }
      }
    }

    @Test("SQLAlchemy: an update from values, another for each row")
    func updateFromValues() throws {
      try library.expectChange(
        of: "SELECT * FROM user_account ORDER BY id",
        "UPDATE user_account SET name = CASE id WHEN 1 THEN 'new' ELSE 'another' END WHERE id IN (1, 2)"
      ) { db in
        // There: 8 lines.
        let names = CommonTable(rows: [(Int64(1), "new"), (2, "another")])
        try User.join(common: names) { $0.id == $1.columns.0 }
          .update(db) { $0.name = $1.columns.1 }
      }
    }

    @Test("SQLAlchemy: the total quantities of a part's parts, by recursion")
    func recursion() throws {
      // There: 16 lines.
      let included = CommonTable(
        recursive: "included",
        Part.filter { $0.part == "our part" }.select { ($0.subPart, $0.part, $0.quantity) }
      ) { included in
        Part.join(common: included) { $0.part == $1.columns.0 }
          .select { part, _ in (part.subPart, part.part, part.quantity) }
      }
      let query = included.all.group { $0.columns.0 }
        .select { ($0.columns.0, $0.columns.2.sum()) }

      try library.expect(
        query.order { part, _ in part },
        """
        WITH RECURSIVE included(sub_part, part, quantity) AS (
          SELECT sub_part, part, quantity FROM part WHERE part = 'our part'
          UNION ALL SELECT p.sub_part, p.part, p.quantity FROM part p
          JOIN included ON p.part = included.sub_part)
        SELECT sub_part, sum(quantity) FROM included GROUP BY sub_part ORDER BY sub_part
        """)
    }
  }

  /// A database with a few rows of each table.
  fileprivate static func database() throws -> Database {
    let db = try Database.empty()
    try User.table.create(db)
    let users = [
      ("spongebob", "Spongebob Squarepants"), ("sandy", "Sandy Cheeks"), ("patrick", nil),
    ]
    try User.insert(db, contentsOf: users.map { User(id: nil, name: $0, fullname: $1) })
    try Address.table.create(db)
    let addresses: [(Int64, String)] = [
      (1, "spongebob@sqlalchemy.org"), (2, "sandy@sqlalchemy.org"),
      (2, "sandy@squirrelpower.org"),
    ]
    try Address.insert(
      db, contentsOf: addresses.map { Address(id: nil, user: $0, email: $1) })
    try Part.table.create(db)
    let parts = [
      ("our part", "gear", 2), ("our part", "bolt", 8), ("gear", "bolt", 4), ("other", "bolt", 9),
    ]
    try Part.insert(
      db, contentsOf: parts.map { Part(id: nil, part: $0, subPart: $1, quantity: $2) })
    return db
  }
}
