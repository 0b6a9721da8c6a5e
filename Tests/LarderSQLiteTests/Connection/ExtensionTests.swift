import Glibc
import LarderSQLite
import TestSupport
import Testing

/// Extensions that a configuration names. SpatiaLite is one that many have; where it isn't installed, what
/// needs a real one is skipped.
@Suite("Loadable extensions")
struct ExtensionTests {
  static let isInstalled: Bool = {
    guard let library = dlopen("mod_spatialite.so", RTLD_LAZY) else { return false }
    // It stays: its own libraries don't stand being loaded again.
    _ = library
    return true
  }()

  private var spatial: Configuration {
    var configuration = Configuration()
    configuration.extensions = [.init("mod_spatialite")]
    return configuration
  }

  @Test("Its functions and tables are there on each connection", .enabled(if: isInstalled))
  func functions() throws {
    let db = try Database(configuration: spatial)
    #expect(try db.value("SELECT spatialite_version()", as: String.self)?.isEmpty == false)
    let distance = try db.value(
      "SELECT ST_Distance(MakePoint(10.75, 59.91), MakePoint(5.32, 60.39))", as: Double.self)
    #expect(try (5.4...5.5).contains(#require(distance)))
    try db.executeStatements(
      """
      CREATE TABLE place (name TEXT, at BLOB);
      INSERT INTO place VALUES ('Oslo', MakePoint(10.75, 59.91)), ('Bergen', MakePoint(5.32, 60.39));
      """)
    #expect(
      try db.executeQuery("SELECT name, ST_X(at) FROM place ORDER BY ST_X(at)")
        .map { try $0.get(at: 1, as: Double.self) } == [5.32, 10.75])

    let folder = try ScratchFolder()
    defer { folder.remove() }
    let pool = try DatabasePool(path: folder.file("spatial.db"), configuration: spatial)
    let sql: SQL = "SELECT ST_AsText(MakePoint(1, 2))"
    #expect(try pool.read { try $0.value(sql, as: String.self) } == "POINT(1 2)")
    #expect(try pool.inTransaction { try $0.value(sql, as: String.self) } == "POINT(1 2)")
    try pool.close()
  }

  @Test("SQL can load nothing, whether an extension is loaded or not", .enabled(if: isInstalled))
  func sqlLoadsNothing() throws {
    for configuration in [Configuration(), spatial] {
      let db = try Database(configuration: configuration)
      #expect(throws: DatabaseError.self) {
        try db.value("SELECT load_extension('mod_spatialite')", as: String?.self)
      }
    }
  }

  @Test("Its functions can't be called by the schema of a file", .enabled(if: isInstalled))
  func schema() throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let path = folder.file("a.db")
    let db = try Database(path: path)
    try db.executeUpdate("CREATE VIEW v AS SELECT BlobToFile(x'01', 'nowhere') AS a")
    try db.close()
    let reopened = try Database(path: path, configuration: spatial)
    #expect(throws: DatabaseError.self) { try reopened.value("SELECT a FROM v", as: Int?.self) }
  }

  @Test(
    "One that isn't there, isn't one, or has no such entry makes opening throw its path",
    arguments: ["nowhere", "/dev/null", "/etc/passwd", "libc.so.6", "", "a\0b"])
  func failures(path: String) throws {
    var configuration = Configuration()
    configuration.extensions = [.init(path)]
    let error = #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
    #expect(
      error.map { $0.message.contains(path.isEmpty || path.contains("\0") ? "path" : path) } == true
    )
    configuration.extensions = [.init("libc.so.6", entryPoint: "no_such_function")]
    #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
    #expect(throws: DatabaseError.self) { try DatabaseQueue(configuration: configuration) }
  }
}
