import Glibc
import Larder

/// A place on the globe, in degrees.
struct Coordinate: Equatable {
  var latitude: Double
  var longitude: Double

  /// The mean radius of the earth in kilometres.
  static let earthRadius = 6_371.0088

  /// The distance on a sphere in kilometres, by the haversine formula.
  func distance(to other: Coordinate) -> Double {
    let (first, second) = (latitude.radians, other.latitude.radians)
    let height = sin((second - first) / 2)
    let width = sin((other.longitude - longitude).radians / 2)
    let square = height * height + cos(first) * cos(second) * width * width
    return 2 * Self.earthRadius * asin(sqrt(min(1, square)))
  }

  static let distanceFunction = "distance_km"

  /// Lets SQL call `distance_km(latitude, longitude, latitude, longitude)`.
  static func registerDistance(_ db: Database) throws {
    try db.createFunction(distanceFunction, argumentCount: 4) { arguments in
      let degrees = try arguments.map { try Double(databaseValue: $0) }
      return Coordinate(latitude: degrees[0], longitude: degrees[1])
        .distance(to: Coordinate(latitude: degrees[2], longitude: degrees[3]))
    }
  }
}

/// An area between two latitudes and two longitudes.
struct BoundingBox {
  /// Longitudes go round: an area may lie across 180°.
  enum Longitudes {
    case between(ClosedRange<Double>)
    case outside(ClosedRange<Double>)
  }

  let latitudes: ClosedRange<Double>
  let longitudes: Longitudes

  /// The smallest area that holds a circle.
  ///
  /// - Parameter radius: in kilometres.
  init(around centre: Coordinate, radius: Double) {
    // A little more, so that rounding leaves nothing out.
    let angle = radius / Coordinate.earthRadius * 1.000_001
    let south = centre.latitude - angle.degrees
    let north = centre.latitude + angle.degrees
    latitudes = max(-90, south)...min(90, north)
    // Around a pole, all longitudes are near.
    guard south > -90, north < 90 else {
      longitudes = .between(-180...180)
      return
    }
    let width = asin(min(1, sin(angle) / cos(centre.latitude.radians))).degrees
    let (west, east) = (centre.longitude - width, centre.longitude + width)
    if west < -180 {
      longitudes = .outside(east...west + 360)
    } else if east > 180 {
      longitudes = .outside(east - 360...west)
    } else {
      longitudes = .between(west...east)
    }
  }
}

extension Double {
  fileprivate var radians: Double { self * .pi / 180 }
  fileprivate var degrees: Double { self * 180 / .pi }
}
