import LarderSQLite
import TestSupport
import Testing

@Suite("Settings that a configuration puts into effect")
struct ConfigurationTests {
  /// The effective settings of an existing file that is opened with `configuration`.
  private func settings(_ configuration: Configuration) throws -> EffectiveSettings {
    try withTemporaryFolder { folder in
      try createCities(in: Database(path: folder + "/cities.db"))
      return try Database(path: folder + "/cities.db", configuration: configuration)
        .effectiveSettings
    }
  }

  @Test("The default profile uses a write-ahead log, and its commits don't wait for the disk")
  func service() throws {
    let settings = try settings(Configuration())
    #expect(settings.journalMode == "wal")
    #expect(settings.synchronous == .normal)
    #expect(settings.foreignKeys)
    #expect(settings.busyTimeout == .seconds(5))
    #expect(settings.cacheSize == 16 << 20)
    #expect(settings.journalSizeLimit == 64 << 20)
    #expect(!settings.isReadOnly)
  }

  @Test(
    "With profile `.durable` and journal mode DELETE, commits also wait for the journal's deletion")
  func durableWithJournal() throws {
    var configuration = Configuration(profile: .durable)
    configuration.journalMode = .delete
    #expect(try settings(configuration).synchronous == .extra)
    configuration.journalMode = .truncate
    #expect(try settings(configuration).synchronous == .full)
  }

  @Test("With profile `.durable`, a file has a write-ahead log and commits wait for the disk")
  func durable() throws {
    let settings = try settings(Configuration(profile: .durable))
    #expect(settings.journalMode == "wal")
    #expect(settings.synchronous == .full)
  }

  @Test("Profile `.untrustedFile` is read-only and runs no triggers and views")
  func untrusted() throws {
    let settings = try settings(Configuration(profile: .untrustedFile))
    #expect(settings.isReadOnly)
    #expect(settings.mmapSize == 0)
    #expect(!settings.runsTriggers)
    #expect(!settings.allowsViews)
  }

  @Test(
    "Every configuration profile hardens the connection",
    arguments: [
      Configuration.Profile.service, .durable, .untrustedFile,
    ])
  func hardened(profile: Configuration.Profile) throws {
    let settings = try settings(Configuration(profile: profile))
    #expect(settings.isDefensive)
    #expect(!settings.trustsSchema)
    #expect(!settings.allowsDoubleQuotedStrings)
    #expect(!settings.loadsExtensions)
    #expect(settings.cellSizeCheck)
  }

  @Test("Each property of a configuration takes effect on opening")
  func changed() throws {
    var configuration = Configuration()
    configuration.journalMode = .truncate
    configuration.synchronous = .extra
    configuration.foreignKeys = false
    configuration.cacheSize = 1 << 20
    configuration.journalSizeLimit = nil
    configuration.busyTimeout = .milliseconds(250)
    let settings = try settings(configuration)
    #expect(settings.journalMode == "truncate")
    #expect(settings.synchronous == .extra)
    #expect(!settings.foreignKeys)
    #expect(settings.cacheSize == 1 << 20)
    #expect(settings.journalSizeLimit == nil)
    #expect(settings.busyTimeout == .milliseconds(250))
  }

  @Test("With a journal mode of `nil`, opening leaves the file's journal mode unchanged")
  func journalModeKept() throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    #expect(try settings(configuration).journalMode == "wal")
  }

  @Test("By default, text in double quotes is a name and never a string")
  func doubleQuotes() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.texts(#"SELECT name FROM city WHERE name = "Oslo""#)
    }
    // The message of versions after 3.41.0 may include the quotes and add advice.
    let isNew = SQLiteLibrary.versionNumber > 3_041_000
    #expect(
      error?.message == "no such column: Oslo"
        || isNew && error?.message.hasPrefix(#"no such column: "Oslo" - "#) == true)
  }

  @Test("By default, `sqlite_schema` can't be written, even with PRAGMA `writable_schema`")
  func defensive() throws {
    let db = try makeCities()
    try db.executeUpdate("PRAGMA writable_schema = ON")
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM sqlite_schema") }
    #expect(try db.cityCount() == 4)
  }

  // MARK: Authorizers

  private func database(_ authorizer: Authorizer, _ folder: String) throws -> Database {
    let writer = try Database(path: folder + "/cities.db")
    try createCities(in: writer)
    try writer.executeUpdate("CREATE TABLE mayor (name TEXT)")
    try writer.close()
    var configuration = Configuration()
    configuration.authorizer = authorizer
    return try Database(path: folder + "/cities.db", configuration: configuration)
  }

  private func expectRefused(_ db: Database, _ statements: [String]) {
    for sql in statements {
      let error = #expect(throws: DatabaseError.self, "\(sql)") { try db.validate(SQL(raw: sql)) }
      #expect(error?.code == .authorization, "\(sql)")
    }
  }

  @Test("A statement that writes fails validation under the authorizer `.readOnly`")
  func readOnlyAuthorizer() throws {
    try withTemporaryFolder { folder in
      let db = try database(.readOnly, folder)
      #expect(try db.cityCount() == 4)
      expectRefused(
        db,
        [
          "DELETE FROM city", "INSERT INTO mayor VALUES ('x')", "UPDATE city SET area = 0",
          "DROP TABLE city", "CREATE TABLE river (name)", "ATTACH ':memory:' AS other",
          "PRAGMA user_version = 5",
        ])
    }
  }

  @Test("A statement that changes the schema fails validation under the authorizer `.dataOnly`")
  func dataOnlyAuthorizer() throws {
    try withTemporaryFolder { folder in
      let db = try database(.dataOnly, folder)
      #expect(try db.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") } == 1)
      expectRefused(
        db, ["DROP TABLE city", "ALTER TABLE city ADD COLUMN x", "CREATE INDEX i ON city (area)"])
    }
  }

  @Test("A statement that uses an unlisted table fails validation under the authorizer `.tables`")
  func tablesAuthorizer() throws {
    try withTemporaryFolder { folder in
      let db = try database(.tables(["City"]), folder)
      #expect(try db.executeUpdate("DELETE FROM city WHERE id = 1") == 1)
      #expect(try db.cityCount() == 3)
      expectRefused(
        db, ["SELECT name FROM mayor", "DELETE FROM mayor", "SELECT * FROM sqlite_schema"])
    }
  }
}
