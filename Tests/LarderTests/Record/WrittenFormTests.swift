import Foundation
import Larder
import PostgresSupport
import Testing

private struct Device: Record, Equatable {
  var id: UUID
  var text: UUID
  var small: UUID?
  var isOn: Bool

  struct Columns: Sendable {
    let id = Column("id", \Device.id, .primaryKey)
    let text = Column("text", \Device.text, as: .text)
    let small = Column("small", \Device.small, as: .lowercaseText)
    let isOn = Column("is_on", \Device.isOn)
  }
  static let columns = Columns()
  static let table = Table(
    "device", Device.init, columns.id, columns.text, columns.small, columns.isOn)
}

@Suite("Values stored in another format than the column's") struct WrittenFormTests {
  let db: Database
  private let device: Device

  init() throws {
    db = try Database.empty()
    if TestEngine.isPostgres {
      try Device.table.create(db)
    } else {
      try db.define("CREATE TABLE device (id PRIMARY KEY, text, small, is_on)")
    }
    let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    var device = Device(id: id, text: id, small: id, isOn: true)
    try device.insert(db)
    self.device = device
  }

  private func reason(_ change: SQL) throws -> ConversionError.Kind? {
    try db.inTransaction { db in
      db.setRollbackOnly()
      try db.executeUpdate("UPDATE device SET \(change)")
      return conversionFailure { try Device.fetchAll(db) }?.kind
    }
  }

  @Test("Columns are read in the format in which queries find them")
  func found() throws {
    #expect(
      try db.value("SELECT small FROM device", as: String.self)
        == "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
    let found = Device.filter {
      $0.id == device.id && $0.text == device.id && $0.small == device.id && $0.isOn == true
    }
    #expect(try found.fetchAll(db) == [device])
  }

  @Test(
    "A value in another format throws, and the error names the coding that reads it",
    .onlySQLite(.anyTyped)
  )
  func refused() throws {
    #expect(try reason("small = upper(small)") == .otherCoding(".text"))
    #expect(try reason("text = lower(text)") == .otherCoding(".lowercaseText"))
    #expect(try reason("id = text") == .otherCoding(".text"))
    #expect(try reason("id = small") == .otherCoding(".lowercaseText"))
    #expect(try reason("is_on = 2") == .notExact)
    #expect(try reason("is_on = -1") == .notExact)
    #expect(try reason("is_on = 0") == nil)
    try db.executeUpdate("UPDATE device SET is_on = 2")
    #expect(throws: ConversionError.self) { try Device.all.select { $0.isOn }.fetchAll(db) }
  }

  @Test("`value` in raw SQL reads a UUID or Bool from any format")
  func ownSQL() throws {
    #expect(try db.value("SELECT small FROM device", as: UUID.self) == device.id)
    #expect(try db.value("SELECT 2", as: Bool.self) == true)
  }
}
