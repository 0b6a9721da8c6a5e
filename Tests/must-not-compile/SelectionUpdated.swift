// one error: update and delete follow a query without select
import Larder

func query(_ db: Database) throws {
  _ = try City.select { ($0.name, $0.population * 2 + 1 - 3 + 4 + 5) }
    .update(db) { $0.population += 1 }
}
