// compiles without warnings
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var id: Int64?
  @available(*, deprecated, message: "use id") @Column("number", .unique) var code: String
  @available(*, deprecated) @NotStored var isOld = false
}

@Record
final class Country {
  @Column(.primaryKey) let code: String
  @available(*, deprecated, renamed: "code") let name: String?

  @available(*, deprecated)
  init() {
    code = ""
    name = nil
  }
}

/// A public record.
@Record
public struct Town {
  @Column(.primaryKey) var id: Int
  @available(*, deprecated) private var `default`: Int?
}

func find(_ db: Database) throws {
  _ = try City.filter { $0.code == "x" }.fetchAll(db)
  _ = try Country.filter { $0.name == "x" }.order { $0.code }.fetchAll(db)
  _ = try Town.find(db, 5)
}
