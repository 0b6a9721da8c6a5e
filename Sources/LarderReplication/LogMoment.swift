import FoundationEssentials
import LarderSQLite

extension ReplicatedDatabase {
  /// A position of a log: a segment of a generation.
  public struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The generation, whose names sort as they follow each other. One begins with each whole copy that
    /// doesn't continue what was before.
    public let generation: String
    /// The number of the segment within it.
    public let segment: Int

    init(generation: String, segment: Int) {
      self.generation = generation
      self.segment = segment
    }

    /// Reads a position as ``description`` writes it; nil for any other text.
    public init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let generation = GenerationName(parts[0]),
        let segment = Int(parts[1]),
        segment >= 0
      else { return nil }
      self.init(generation: generation.text, segment: segment)
    }

    /// The generation and the segment, with a slash between them.
    public var description: String { "\(generation)/\(segment)" }

    /// Whether a position is earlier.
    public static func < (one: Self, other: Self) -> Bool {
      (one.generation, one.segment) < (other.generation, other.segment)
    }
  }
}

extension LogCatalog {
  /// Finds what a moment is restored from. Throws `ResultCode.notFound` if that isn't there, or nobody knows
  /// whether it is what was asked for.
  func find(
    _ moment: ReplicatedDatabase.Moment
  ) throws -> (Generation, Generation.Point) {
    switch moment {
    case .latest: try latest()
    case .time(let date): try last(before: date)
    case .position(let position): try point(at: position)
    case .before(let migration): try point(before: migration)
    }
  }

  /// The last moment. A generation whose first whole copy isn't complete yet doesn't count; one that has lost it does.
  func latest() throws -> (Generation, Generation.Point) {
    for generation in generations.reversed() {
      if let loss = generation.loss { throw gap(in: generation, loss) }
      if let point = generation.points().last { return (generation, point) }
    }
    throw DatabaseError(.notFound, "the log has no whole copy of the database")
  }

  private func last(before date: Date) throws -> (Generation, Generation.Point) {
    let time = Int((date.timeIntervalSince1970 * 1000).rounded(.down))
    var later: (Generation, Generation.Point)?
    var unknown: Generation?
    for generation in generations.reversed() {
      let points = generation.points()
      guard let point = points.last(where: { $0.time <= time }) else {
        if let first = points.first {
          later = (generation, first)
        } else if generation.name.time <= time {
          unknown = generation
        }
        continue
      }
      if point.number == points.last?.number {
        // A missing segment may be of before the time, too.
        if let loss = generation.loss { throw gap(in: generation, loss) }
        if let unknown {
          throw gap(in: unknown, unknown.loss ?? "its first whole copy isn't complete")
        }
        if let (next, first) = later {
          throw DatabaseError(
            .notFound,
            """
            the log has a gap at that time: after \(Self.describe(point, generation)) it begins anew at \
            \(Self.describe(first, next))
            """)
        }
      }
      return (generation, point)
    }
    throw DatabaseError(
      .notFound,
      later.map { "the log begins later, at \(Self.describe($1, $0))" }
        ?? "the log has no whole copy of the database")
  }

  private func point(
    at position: ReplicatedDatabase.Position
  ) throws -> (Generation, Generation.Point) {
    guard let generation = generations.first(where: { $0.name.text == position.generation }) else {
      throw DatabaseError(.notFound, "the log has no generation \(position.generation)")
    }
    let points = generation.points()
    guard let point = points.first(where: { $0.number == position.segment }) else {
      let nearest = points.last { $0.number < position.segment }
      throw DatabaseError(
        .notFound,
        "the log has no point \(position)"
          + (nearest.map { "; the last one before it is \(Self.describe($0, generation))" } ?? ""))
    }
    return (generation, point)
  }

  private func point(before migration: String) throws -> (Generation, Generation.Point) {
    for generation in generations.reversed() {
      guard let found = generation.migrations.first(where: { $0.name == migration }) else {
        continue
      }
      guard let point = generation.points().last(where: { $0.number < found.segment }) else {
        throw DatabaseError(
          .notFound, "the log begins after the migration “\(migration)” was applied")
      }
      return (generation, point)
    }
    throw DatabaseError(.notFound, "the log knows nothing of a migration “\(migration)”")
  }

  /// The error for what is missing, with the last position before it.
  private func gap(in generation: Generation, _ loss: String) -> DatabaseError {
    let before = generations.last { $0.name <= generation.name && !$0.points().isEmpty }
    let advice =
      before.flatMap { before in
        before.points().last.map {
          "The last position before that is \(Self.describe($0, before)): restore it if that will do"
        }
      } ?? "There is no position before that"
    return DatabaseError(
      .notFound, "the log has a gap: of \(generation.name.text), \(loss). \(advice)")
  }

  static func describe(_ point: Generation.Point, _ generation: Generation) -> String {
    let position = ReplicatedDatabase.Position(
      generation: generation.name.text, segment: point.number)
    return "\(position) (\(text(of: point.time)))"
  }

  static func text(of milliseconds: Int) -> String {
    let time = try? CivilTime(seconds: Double(milliseconds) / 1000, unitsPerSecond: 1000)
    return (time.map { $0.text(separator: "T") } ?? "?") + "Z"
  }
}
