// one error: requires the types '(String, Int, Int?)' and '(String, Int, String)' be equivalent
import Larder

func totals(_ db: Database) throws -> [(String, Int, String)] {
  try City.join(Country.self) { $0.country == $1.code }.group { $1.name }
    .select { ($1.name, count() * 2 + 1, $0.population.sum()) }.fetchAll(db)
}
