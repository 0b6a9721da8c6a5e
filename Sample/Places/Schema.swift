import Larder

/// The tables of the gazetteer.
enum Schema {
  /// Creates what isn't there.
  static func create(_ db: Database) throws {
    guard try !db.tableExists("city") else { return }
    try db.inTransaction { db in
      try Country.table.create(db)
      try City.table.create(db)
      try Division.table.create(db)
      try Visit.table.create(db)
      try TextIndex.cities.create(db)
      try TextIndex.divisions.create(db)
    }
  }

  /// Throws if the database isn't one of this version of the program.
  static func checkIsCurrent(_ db: Database) throws {
    guard try db.tableExists("city") else {
      throw Failure(.database, "\(db.path ?? ""): there is no gazetteer in it; “gazetteer import” makes one")
    }
  }
}
