// one error: expressions of this type have no such property or function
import Larder

func totals(_ db: Database) throws {
  _ = try City.group { $0.country }
    .select { ($0.country, $0.population.summ(), ($0.id.count() + 1) * 2) }
    .fetchAll(db)
}
