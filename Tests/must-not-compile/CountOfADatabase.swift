// one error: the number of a query's rows is fetchCount
import Larder

func query(_ db: Database) throws {
  _ = City.filter { $0.population > 3 }.count(db)
}
