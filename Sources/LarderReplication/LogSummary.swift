import FoundationEssentials
import LarderSQLite

/// The content of a database's log, for people.
package struct LogSummary: Encodable {
  package struct Generation: Encodable {
    package let name: String
    /// The first and last moment that can be restored, in UTC; nil for none, since no whole copy is complete.
    package let from: String?
    package let to: String?
    package let position: String?
    package let points: Int
    package let bases: Int
    package let objects: Int
    package let bytes: Int
    /// What is missing, in words; nil for nothing.
    package let gap: String?
    package let migrations: [Migration]
  }

  package struct Migration: Encodable {
    package let name: String
    /// The last position before it, and its time; nil if that isn't in the log.
    package let before: String?
    package let time: String?
  }

  package let database: String
  package let generations: [Generation]

  /// Reads what is in a sink: all databases, or the one of that name.
  package static func read(_ sink: some LogSink, name: String?) throws -> [LogSummary] {
    let prefixes = try name.map { [$0 + "/"] } ?? LogCatalog.prefixes(in: sink)
    return try prefixes.map { prefix in
      LogSummary(
        database: String(prefix.dropLast()),
        generations: try LogCatalog(sink, prefix).generations.map(Generation.init))
    }
  }
}

extension LogSummary.Generation {
  fileprivate init(_ generation: LogCatalog.Generation) {
    let points = generation.points()
    let objects =
      generation.segments.map(\.object) + generation.parts.map(\.object)
      + generation.bases.map(\.object) + generation.wholes.map(\.object)
    func position(_ point: LogCatalog.Generation.Point) -> String {
      "\(generation.name.text)/\(point.number)"
    }
    self.init(
      name: generation.name.text, from: points.first.map { LogCatalog.text(of: $0.time) },
      to: points.last.map { LogCatalog.text(of: $0.time) }, position: points.last.map(position),
      points: points.count, bases: generation.bases.count, objects: objects.count,
      bytes: objects.reduce(0) { $0 + $1.bytes },
      gap: generation.loss,
      migrations: generation.migrations.map { migration in
        let before = points.last { $0.number < migration.segment }
        return LogSummary.Migration(
          name: migration.name, before: before.map(position),
          time: before.map { LogCatalog.text(of: $0.time) })
      })
  }
}
