// compiles
import Larder

let totals = CommonTable(
  "totals",
  City.all.group { $0.country }.select {
    ($0.country, $0.elevation.coalesce(0), $0.population.real)
  })
let large = totals.all.filter {
  $0.columns.1 > 3 && $0.columns.1 <= 5 && $0.columns.2 == 7 && $0.columns.2 != 2.5
}
