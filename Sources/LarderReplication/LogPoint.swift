import FoundationEssentials
import LarderSQLite

extension ReplicatedDatabase {
  /// A moment to which a database can be restored.
  public struct Point: Hashable, Sendable {
    /// The position.
    public let position: Position
    /// The time, to the millisecond: nothing in it was committed later, and everything later is in later points.
    public let date: Date
    /// The bytes of the segments that end there.
    public let bytes: Int
  }

  /// The points of a log, the oldest first.
  ///
  /// - Parameters:
  ///   - sink: the place that the log is in.
  ///   - name: the database's name there; nil if there is only one.
  /// - Throws: `ResultCode.notFound` if there is no log, or a name is needed; and the sink's errors.
  public static func points(in sink: some LogSink, name: String? = nil) throws -> [Point] {
    let catalog = try LogCatalog(sink, prefix(in: sink, name))
    return catalog.generations.flatMap { generation in
      let sizes = Dictionary(grouping: generation.segments, by: \.last)
      return generation.points().map { point in
        Point(
          position: Position(generation: generation.name.text, segment: point.number),
          date: Date(timeIntervalSince1970: Double(point.time) / 1000),
          bytes: sizes[point.number]?.map(\.object.bytes).min() ?? 0)
      }
    }
  }
}
