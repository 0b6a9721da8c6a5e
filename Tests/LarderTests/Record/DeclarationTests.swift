import Larder
import Testing

private struct Swapped: Record {
  var id: Int
  var name: String
  var district: String

  struct Columns: Sendable {
    let id = Column("id", \Swapped.id, .primaryKey)
    let name = Column("name", \Swapped.name)
    let district = Column("district", \Swapped.district)
  }
  static let columns = Columns()
  static let table = Table("city", Swapped.init, columns.id, columns.district, columns.name)
}

private struct SameNames: Record {
  var id: Int
  var name: Int

  struct Columns: Sendable {
    let id = Column("id", \SameNames.id, .primaryKey)
    let name = Column("ID", \SameNames.name)
  }
  static let columns = Columns()
  static let table = Table("city", SameNames.init, columns.id, columns.name)
}

private struct Keyless: Record {
  var name: Int

  struct Columns: Sendable {
    let name = Column("name", \Keyless.name)
  }
  static let columns = Columns()
  static let table = Table("city", Keyless.init, columns.name)
}

private struct SuperfluousOption: Record {
  var id: Int

  struct Columns: Sendable {
    let id = Column("id", \SuperfluousOption.id, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("city", SuperfluousOption.init, columns.id, options: .noPrimaryKey)
}

private struct NamelessColumn: Record {
  var id: Int

  struct Columns: Sendable {
    let id = Column("", \NamelessColumn.id, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("city", NamelessColumn.init, columns.id)
}

private struct NULInName: Record {
  var id: Int

  struct Columns: Sendable {
    let id = Column("a\0b", \NULInName.id, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("city", NULInName.init, columns.id)
}

private struct NamelessTable: Record {
  var id: Int

  struct Columns: Sendable {
    let id = Column("id", \NamelessTable.id, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("", NamelessTable.init, columns.id)
}

private struct Columnless: Record {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let table = Table("city", Columnless.init, options: .noPrimaryKey)
}

private struct TextAutoincrement: Record {
  var id: String

  struct Columns: Sendable {
    let id = Column("id", \TextAutoincrement.id, .autoincrement)
  }
  static let columns = Columns()
  static let table = Table("city", TextAutoincrement.init, columns.id)
}

private struct CompositeAutoincrement: Record {
  var id: Int
  var other: Int

  struct Columns: Sendable {
    let id = Column("id", \CompositeAutoincrement.id, .autoincrement)
    let other = Column("other", \CompositeAutoincrement.other, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("city", CompositeAutoincrement.init, columns.id, columns.other)
}

private struct AutoincrementWithoutRowID: Record {
  var id: Int

  struct Columns: Sendable {
    let id = Column("id", \AutoincrementWithoutRowID.id, .autoincrement)
  }
  static let columns = Columns()
  static let table = Table(
    "city", AutoincrementWithoutRowID.init, columns.id, options: .withoutRowID)
}

private struct TwoVersions: Record {
  var id: Int
  var first: Int
  var second: Int

  struct Columns: Sendable {
    let id = Column("id", \TwoVersions.id, .primaryKey)
    let first = Column("first", \TwoVersions.first, .version)
    let second = Column("second", \TwoVersions.second, .version)
  }
  static let columns = Columns()
  static let table = Table("city", TwoVersions.init, columns.id, columns.first, columns.second)
}

private struct FixedVersion: Record {
  var id: Int
  var version: Int

  struct Columns: Sendable {
    let id = Column("id", \FixedVersion.id, .primaryKey)
    let version = Column("version", \FixedVersion.version, .version, .readOnly)
  }
  static let columns = Columns()
  static let table = Table("city", FixedVersion.init, columns.id, columns.version)
}

private struct SameProperty: Record {
  var id: Int
  var name: Int

  struct Columns: Sendable {
    let id = Column("id", \SameProperty.id, .primaryKey)
    let name = Column("name", \SameProperty.id)
  }
  static let columns = Columns()
  static let table = Table("city", SameProperty.init, columns.id, columns.name)
}

@Suite("Wrong declarations of tables")
struct DeclarationTests {
  @Test("Columns in another order than the record's properties make the declaration wrong")
  func order() throws {
    #expect(
      try problem(of: Swapped.self)
        == "the columns “district” and “name” aren't in the order of the record's properties")
  }

  @Test("Two columns with the same key path make the declaration wrong")
  func keyPaths() throws {
    #expect(
      try problem(of: SameProperty.self)
        == "the columns “id” and “name” have the same key path: a property can only be one column")
  }

  @Test("Empty and duplicate names, NUL in names, and no columns make the declaration wrong")
  func names() throws {
    #expect(try problem(of: SameNames.self) == "two columns are named “ID”")
    #expect(
      try problem(of: NamelessColumn.self) == "the name of a column is empty or holds a NUL")
    #expect(try problem(of: NULInName.self) == "the name of a column is empty or holds a NUL")
    #expect(try problem(of: NamelessTable.self) == "its name is empty or holds a NUL")
    #expect(try problem(of: Columnless.self) == "it has no columns")
  }

  @Test("A declaration needs either a primary key or .noPrimaryKey")
  func keys() throws {
    #expect(
      try problem(of: Keyless.self)
        == "it has no primary key; use .noPrimaryKey if that is intended")
    #expect(
      try problem(of: SuperfluousOption.self)
        == "it has a primary key, but also .noPrimaryKey")
  }

  @Test("Only a row id can be autoincremented")
  func autoincrement() throws {
    let text = "“id” can't be autoincremented: it isn't the row id"
    #expect(try problem(of: TextAutoincrement.self) == text)
    #expect(try problem(of: CompositeAutoincrement.self) == text)
    #expect(try problem(of: AutoincrementWithoutRowID.self) == text)
  }

  @Test("Two versions, or one that isn't written, make the declaration wrong")
  func versions() throws {
    #expect(try problem(of: TwoVersions.self) == "it has two version columns")
    #expect(try problem(of: FixedVersion.self) == "the version “version” isn't written")
  }

  @Test("Every operation of a record with a wrong declaration throws, and changes nothing")
  func operations() throws {
    let db = try City.norway()
    let swapped = Swapped(id: 9, name: "a", district: "b")
    let text =
      "the declaration of the table “city” is wrong: the columns “district” and “name” aren't "
      + "in the order of the record's properties"
    var variable = swapped
    #expect(recordFailure { try variable.insert(db) } == text)
    #expect(recordFailure { try variable.insert(db, or: .replace) } == text)
    #expect(recordFailure { try swapped.inserted(db) } == text)
    #expect(recordFailure { try Swapped.insert(db, contentsOf: [swapped]) } == text)
    #expect(recordFailure { try Swapped.insert(db, contentsOf: []) } == text)
    #expect(failure(RecordError.self) { try Swapped.inserted(db, contentsOf: [swapped]) } != nil)
    #expect(recordFailure { try variable.update(db) } == text)
    #expect(recordFailure { try variable.update(db, Swapped.columns.name) } == text)
    #expect(recordFailure { try variable.update(db, changedSince: swapped) } == text)
    #expect(recordFailure { try swapped.updated(db) } == text)
    #expect(recordFailure { try variable.save(db) } == text)
    #expect(recordFailure { try variable.upsert(db) } == text)
    #expect(recordFailure { try variable.upsert(db, onConflict: Swapped.columns.name) } == text)
    #expect(recordFailure { try swapped.delete(db) } == text)
    #expect(recordFailure { try Swapped.find(db, 1) } == text)
    #expect(recordFailure { try Swapped.fetchOne(db, 1) } == text)
    #expect(recordFailure { try Swapped.fetchAll(db) } == text)
    #expect(recordFailure { try Swapped.fetchAll(db, keys: [1]) } == text)
    #expect(recordFailure { try Swapped.fetchAll(db, sql: "SELECT * FROM city") } == text)
    #expect(recordFailure { try Swapped.forEach(db) { _ in } } == text)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("Updating or upserting a column that the table doesn't have throws")
  func foreignColumn() throws {
    let db = try City.norway()
    var oslo = City.norwegian[0]
    let other = Column("mayor", \City.name)
    let error = failure(DatabaseError.self) { try oslo.update(db, other) }
    #expect(error?.message == "the table “city” has no column “mayor”")
    #expect(failure(DatabaseError.self) { try oslo.upsert(db, updating: other) }?.code == .misuse)
  }

  @Test("A version that is a `let` property makes the declaration wrong")
  func constantVersion() throws {
    struct Constant: Record {
      var id: Int64?
      let version: Int

      struct Columns: Sendable {
        let id = Column("id", \Constant.id, .primaryKey)
        let version = Column("version", \Constant.version, .version)
      }
      static let columns = Columns()
      static let table = Table("constant", Constant.init, columns.id, columns.version)
    }
    #expect(try problem(of: Constant.self) == "the version “version” is a constant")
  }
}
