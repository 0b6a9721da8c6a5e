import Foundation
import Larder

/// The records of Fluent's documentation.
enum Fluent {
  enum PlanetType: String, DatabaseValueConvertible { case gasGiant, smallRocky, dwarf }

  struct Galaxy: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Galaxy.id, .primaryKey)
      let name = Column("name", \Galaxy.name)
    }
    static let columns = Columns()
    static let table = Table("galaxy", Galaxy.init, columns.id, columns.name)
    static let stars = HasMany(columns.id, Star.columns.galaxy)
  }

  struct Star: Record, Equatable {
    var id: Int64?
    var name: String
    var galaxy: Int64

    struct Columns: Sendable {
      let id = Column("id", \Star.id, .primaryKey)
      let name = Column("name", \Star.name)
      let galaxy = Column("galaxy", \Star.galaxy)
    }
    static let columns = Columns()
    static let table = Table("star", Star.init, columns.id, columns.name, columns.galaxy)
    static let planets = HasMany(columns.id, Planet.columns.star)
  }

  struct Planet: Record, Equatable {
    var id: Int64?
    var name: String
    var type: PlanetType
    var star: Int64

    struct Columns: Sendable {
      let id = Column("id", \Planet.id, .primaryKey)
      let name = Column("name", \Planet.name)
      let type = Column("type", \Planet.type)
      let star = Column("star", \Planet.star)
    }
    static let columns = Columns()
    static let table = Table(
      "planet", Planet.init, columns.id, columns.name, columns.type, columns.star)
    static let inSystem = BelongsTo(columns.star, Star.columns.id)
  }

  struct User: Record, Equatable {
    var id: Int64?
    var firstName: String
    var lastName: String

    struct Columns: Sendable {
      let id = Column("id", \User.id, .primaryKey)
      let firstName = Column("first_name", \User.firstName)
      let lastName = Column("last_name", \User.lastName)
    }
    static let columns = Columns()
    static let table = Table("user", User.init, columns.id, columns.firstName, columns.lastName)
  }

  struct Team: Record, Equatable {
    var id: Int64?
    var name: String

    struct Columns: Sendable {
      let id = Column("id", \Team.id, .primaryKey)
      let name = Column("name", \Team.name)
    }
    static let columns = Columns()
    static let table = Table("team", Team.init, columns.id, columns.name)
  }

  struct Match: Record, Equatable {
    var id: Int64?
    var homeTeam: Int64
    var awayTeam: Int64

    struct Columns: Sendable {
      let id = Column("id", \Match.id, .primaryKey)
      let homeTeam = Column("home_team", \Match.homeTeam)
      let awayTeam = Column("away_team", \Match.awayTeam)
    }
    static let columns = Columns()
    static let table = Table("match", Match.init, columns.id, columns.homeTeam, columns.awayTeam)
  }
}
