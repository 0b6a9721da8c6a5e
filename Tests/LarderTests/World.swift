import Foundation
import Larder
import PostgresSupport

extension Database {
  /// A database with three countries and four places.
  static func world(_ configuration: Configuration = Configuration()) throws -> Database {
    let db = try Database.empty(configuration)
    try db.define(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, capital TEXT);
      CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
        country TEXT NOT NULL, level TEXT NOT NULL, elevation REAL);
      """)
    try Nation.insert(
      db,
      contentsOf: [
        Nation(code: "CN", name: "China", capital: "北京市"),
        Nation(code: "NO", name: "Norway", capital: "Oslo"),
        Nation(code: "AQ", name: "Antarctica", capital: nil),
      ])
    try Place.insert(
      db,
      contentsOf: [
        Place(
          id: 1, name: "北京市", population: 21_893_095, country: "CN", level: .city, elevation: 43.5),
        Place(
          id: 2, name: "上海市", population: 24_870_895, country: "CN", level: .city, elevation: 4),
        Place(id: 3, name: "Oslo", population: 709_037, country: "NO", level: .city, elevation: 23),
        Place(
          id: 4, name: "北戴河区", population: 120_000, country: "CN", level: .district,
          elevation: nil),
      ])
    return db
  }
}

/// The SQL of an expression of places, without the table's name.
func text<V>(_ expression: (RecordFields<Place>) -> SQLExpression<V>) -> String {
  let pieces = Place.all.order(expression).snapshot.components(separatedBy: " ORDER BY ")
  return pieces.dropFirst().joined().replacing(#""place"."#, with: "")
}
