// one error: a closure after a selection takes one parameter for each of its values, { _, count, _ in count.desc }
import Larder

func query() throws {
  _ = City.all.group { $0.country }.select { ($0.country, count(), $0.population.sum()) }
    .order { $1.desc }
}
