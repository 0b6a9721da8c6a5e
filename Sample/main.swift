import LarderSQLite

// A cupboard full of cities: the wrapper in twenty lines.
let db = try Database()
try db.executeStatements(
  """
  CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, population INTEGER);
  CREATE INDEX city_by_population ON city (population);
  """)
try db.inTransaction { db in
  for (name, population) in [("北京市", 21_893_095), ("Oslo", 709_037), ("O'Fallon", 91_316)] {
    try db.executeUpdate("INSERT INTO city (name, population) VALUES (\(name), \(population))")
  }
}
let cities = try db.executeQuery(
  "SELECT name, population FROM city WHERE population > ? ORDER BY population DESC", 100_000)
while try cities.next() {
  print(try cities.get("name", as: String.self), try cities.get("population", as: Int.self))
}
do {
  try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "Oslo")
} catch let error as DatabaseError where error.constraint?.kind == .unique {
  print("Oslo is there already:", error)
}
