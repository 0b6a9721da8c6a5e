// one error: the expression and the column have different types: convert the expression with .real
import Larder

func query(_ db: Database) throws {
  let heights = CommonTable(rows: [("Oslo", 23.5), ("Bergen", 12)])
  let joined = City.all.join(common: heights) { $0.name == $1.columns.0 }
  // Both crashed the compiler.
  try joined.update(db) { $0.elevation = $1.columns.1 }
  try joined.update(db) { $0.population = $1.columns.1 }
}
