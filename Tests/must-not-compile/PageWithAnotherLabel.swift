// one error: page(db, after: cursor, limit: 20)
import Larder

func query(_ db: Database) throws {
  _ = try City.select { ($0.name, $0.population * 2 + 1 - 3 + 4 + 5) }.page(db, size: 20)
}
