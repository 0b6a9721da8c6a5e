// one error: the rows have another type than is asked for
import Larder

func query(_ db: Database) throws -> [(String, String)] {
  try City.select { ($0.name, $0.population * 2 + 1 - 3 + 4 + 5) }.order { $1.desc }.fetchAll(db)
}
