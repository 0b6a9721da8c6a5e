// one error: a closure over joined tables takes one parameter for each
import Larder

func query() throws {
  _ = City.join(Country.self) { $0.country == $1.code }.join(City.self) { $2.country == $1.code }
    .join(Country.self) { $3.code == $2.country }.group { $2.id }
}
