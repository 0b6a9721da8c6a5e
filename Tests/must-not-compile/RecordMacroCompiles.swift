// compiles without warnings
import Foundation
import LarderMacros

@Record("city", indexes: [.index(\.name, where: "name > ''")])
struct City {
  @Column(.primaryKey) var id: Int64?
  @Column("title", .unique, .default("x")) var name: String
  @Column(as: .iso8601) var founded: Date?
  @Column(as: .json) var tags: [String]
  @Column(.references(City.self)) var capital: Int64?
  @NotStored var isSelected = false
}

func find(_ db: Database) throws -> [City] { try City.filter { $0.name == "Oslo" }.fetchAll(db) }
