import Foundation
import Larder
import Testing

@Suite("gazetteer nearest with all cities")
struct NearestTests {
  @Test("gazetteer nearest finds the same 30 cities as computing the distance to every city")
  func likeAllDistances() throws {
    let gazetteer = try Gazetteer()
    try #require(try gazetteer.run("import").status == 0)
    let cities = try gazetteer.open()
      .executeQuery("SELECT id, latitude, longitude FROM city")
      .map { row in
        (
          id: try row.get(at: 0, as: Double.self),
          at: Direction(try row.get(at: 1), try row.get(at: 2))
        )
      }
    for place in [
      (0, 0), (47.4, 8.5), (-17.7, 179.99), (-17.7, -180), (71, 180), (89.9, 40), (-90, 0),
    ] {
      let centre = Direction(place.0, place.1)
      let expected = cities.map { ($0.id, $0.at.angle(to: centre)) }.sorted { $0.1 < $1.1 }.prefix(
        30)
      let found = try gazetteer.objects(
        "nearest", "\(place.0)", "\(place.1)", "--limit", "30"
      ).map { $0["id"] }
      #expect(found == expected.map { .number($0.0) }, "\(place)")
    }
  }
}

/// A place on the globe as a vector, which needs no special cases at the poles and at 180°.
private struct Direction {
  let x, y, z: Double

  init(_ latitude: Double, _ longitude: Double) {
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    (x, y, z) = (cos(north) * cos(east), cos(north) * sin(east), sin(north))
  }

  func angle(to other: Direction) -> Double {
    let chord = sqrt(
      (x - other.x) * (x - other.x) + (y - other.y) * (y - other.y) + (z - other.z) * (z - other.z))
    return 2 * asin(min(1, chord / 2))
  }
}
