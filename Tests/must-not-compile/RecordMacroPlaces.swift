// compiles without warnings
import LarderMacros

enum Larder {}
struct Column {}
struct Table {}

@Record
struct Country: Record { @Column(.primaryKey) var code: String }

/// A public record.
@Record
public struct Town: Hashable, Record {
  @Column(.primaryKey) var id: Int
  private var secret: String
}

/// A namespace.
public enum Map {
  @Record
  fileprivate struct Place { @Column(.primaryKey) var id: Int }

  @Record
  struct Lake: Record {
    @Column(.primaryKey) var id: Int
    private var depth: Double
  }
}

private enum Secret {
  @Record
  final class Place: Record {
    @Column(.primaryKey) let id: Int
    init() { id = 5 }
  }
}

extension Secret {
  @Record
  struct Door: Record { @Column(.primaryKey) var id: Int }
}

@Record
struct Gate { @Column(.primaryKey) var id: Int }

extension Gate: Record {}

public extension Map {
  @Record
  struct Road {
    /// The key.
    @Column(.primaryKey) public var id: Int
  }
}

@Record
private struct Village { @Column(.primaryKey) var name: String }

/// Uses them.
public func roads(_ db: Database) throws -> [Map.Road] {
  _ = try Country.join(Town.self) { $0.code == $1.secret }.fetchAll(db)
  _ = try (Secret.Place.find(db, 5), Secret.Door.all.fetchAll(db), Gate.all.fetchAll(db))
  _ = try (Village.find(db, "x"), Map.Place.all.fetchAll(db))
  return try Map.Road.filter { $0.id > 5 }.fetchAll(db)
}
