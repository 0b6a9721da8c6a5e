// one error: a query can join at most eight tables
import Larder

func query() throws {
  _ = City.join(City.self) { $1.id == $0.id }.join(City.self) { $2.id == $1.id }.join(City.self) {
    $3.id == $2.id
  }.join(City.self) { $4.id == $3.id }.join(City.self) { $5.id == $4.id }.join(City.self) {
    $6.id == $5.id
  }.join(City.self) { $7.id == $6.id }.join(City.self) { $8.id == $7.id }
}
