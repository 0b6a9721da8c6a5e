import Glibc
import LarderSQLite
import TestSupport
import Testing

/// Extensions that a configuration names. Tests that need a real one use SpatiaLite, which is common, and are
/// skipped where it isn't installed.
@Suite("Loadable extensions")
struct ExtensionTests {
  static let isInstalled: Bool = {
    guard let library = dlopen("mod_spatialite.so", RTLD_LAZY) else { return false }
    // The library is never unloaded: its own dependencies don't support being loaded again.
    _ = library
    return true
  }()

  private var spatial: Configuration {
    var configuration = Configuration()
    configuration.extensions = [.init("mod_spatialite")]
    return configuration
  }

  @Test(
    "An extension's functions are available on a database and each connection of a pool",
    .enabled(if: isInstalled))
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

  @Test(
    "SQL can't load an extension, even on a connection that was configured with one",
    .enabled(if: isInstalled))
  func sqlLoadsNothing() throws {
    for configuration in [Configuration(), spatial] {
      let db = try Database(configuration: configuration)
      #expect(throws: DatabaseError.self) {
        try db.value("SELECT load_extension('mod_spatialite')", as: String?.self)
      }
    }
  }

  @Test(
    "A file's schema can't call an extension's function that writes files",
    .enabled(if: isInstalled))
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
    "Opening throws an error with the path if an extension is missing, invalid or lacks its entry point",
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
