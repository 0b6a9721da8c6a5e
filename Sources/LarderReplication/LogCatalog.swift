import FoundationEssentials
import LarderSQLite

/// The objects of a database's log, as their names tell.
struct LogCatalog {
  struct Segment: Hashable {
    let first: Int
    let last: Int
    let epoch: Int
    let time: Int
    let isCommit: Bool
    /// The period that it was merged for; nil for a single segment.
    let level: LogLevel?
    let object: LogObject
  }

  /// A whole copy, which together with the segments after ``start`` is the database from ``end`` on.
  struct Base: Hashable {
    let start: Int
    let end: Int
    let epoch: Int
    let time: Int
    let object: LogObject
  }

  struct Generation {
    let name: GenerationName
    var segments: [Segment] = []
    var bases: [Base] = []
    /// What says that there have been whole copies.
    var wholes: [(start: Int, end: Int, epoch: Int, object: LogObject)] = []
    var parts: [(start: Int, number: Int, epoch: Int, object: LogObject)] = []
    var migrations: [(segment: Int, name: String, object: LogObject)] = []
    /// The last segments that owners have found.
    var ends: [(last: Int, epoch: Int, object: LogObject)] = []
  }

  /// The generations, the oldest first.
  private(set) var generations: [Generation] = []

  init(erased sink: any LogSink, _ prefix: String) throws { try self.init(sink, prefix) }

  init(_ sink: some LogSink, _ prefix: String) throws {
    var found: [GenerationName: Generation] = [:]
    for object in try sink.list(prefix) {
      let rest = object.name.dropFirst(prefix.count).split(
        separator: "/", omittingEmptySubsequences: false)
      guard rest.count == 2, let generation = GenerationName(rest[0]),
        let name = ObjectName(rest[1])
      else { continue }
      found[generation, default: Generation(name: generation)].add(name, object)
    }
    generations = found.values.sorted { $0.name < $1.name }
    for index in generations.indices { generations[index].dropSuperseded() }
  }

  /// The databases that have a log in a sink, by their prefixes.
  static func prefixes(in sink: some LogSink) throws -> [String] {
    let names = try sink.list("").compactMap { object -> String? in
      let parts = object.name.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count >= 3 else { return nil }
      return parts.dropLast(2).joined(separator: "/") + "/"
    }
    return Set(names).sorted()
  }
}

extension LogCatalog.Segment {
  /// Nil for an object of another kind.
  init?(_ name: ObjectName, _ object: LogObject) {
    guard case .segment(let first, let last, let epoch, let time, let isCommit, let level) = name
    else { return nil }
    self.init(
      first: first, last: last, epoch: epoch, time: time, isCommit: isCommit, level: level,
      object: object)
  }
}

extension LogCatalog.Generation {
  fileprivate mutating func add(_ name: ObjectName, _ object: LogObject) {
    switch name {
    case .segment:
      if let segment = LogCatalog.Segment(name, object) { segments.append(segment) }
    case .part(let start, let number, let epoch):
      parts.append((start, number, epoch, object))
    case .base(let start, let end, let epoch, let time):
      bases.append(.init(start: start, end: end, epoch: epoch, time: time, object: object))
    case .whole(let start, let end, let epoch):
      wholes.append((start, end, epoch, object))
    case .migration(let segment, let name):
      migrations.append((segment, name, object))
    case .end(let last, let epoch):
      ends.append((last, epoch, object))
    }
  }

  /// The end that the latest owner has found, which may have found what one before it hadn't. So only that one counts.
  var lastEnd: (last: Int, epoch: Int, object: LogObject)? {
    ends.max { ($0.epoch, -$0.last) < ($1.epoch, -$1.last) }
  }

  /// Drops what a former owner has put after the next one had begun.
  fileprivate mutating func dropSuperseded() {
    var begins: [Int: Int] = [:]
    for segment in segments {
      begins[segment.epoch] = min(begins[segment.epoch] ?? .max, segment.first)
    }
    segments = segments.filter { segment in
      !begins.contains { $0.key > segment.epoch && $0.value <= segment.last }
    }
    if let end = lastEnd {
      segments.removeAll { $0.epoch < end.epoch && $0.last > end.last }
      bases.removeAll { $0.epoch < end.epoch && $0.end > end.last }
      wholes.removeAll { $0.epoch < end.epoch && $0.end > end.last }
    }
    segments.sort { ($0.first, -$0.last) < ($1.first, -$1.last) }
    bases.sort { ($0.end, $0.start) < ($1.end, $1.start) }
    migrations.sort { $0.segment < $1.segment }
  }

  /// A segment by which a number is reached in the fewest steps.
  struct Step {
    let count: Int
    let segment: LogCatalog.Segment?
  }

  /// The numbers that can be reached from one, without a gap.
  func reach(from start: Int) -> [Int: Step] {
    var reached = [start: Step(count: 0, segment: nil)]
    for segment in segments where segment.first > start {
      guard let before = reached[segment.first - 1] else { continue }
      if let known = reached[segment.last], known.count <= before.count + 1 { continue }
      reached[segment.last] = Step(count: before.count + 1, segment: segment)
    }
    return reached
  }

  /// A point of the generation to which the database can be restored.
  struct Point {
    let number: Int
    let time: Int
    let base: LogCatalog.Base
  }

  /// All points, the oldest first. A merged segment and those that it was merged of end in the same point.
  func points() -> [Point] {
    var points: [Int: Point] = [:]
    for base in bases {
      for (number, step) in reach(from: base.start) where number >= base.end {
        guard step.segment?.isCommit ?? (number == base.end) else { continue }
        let time = step.segment.map { max($0.time, number == base.end ? base.time : 0) }
        points[number] = Point(number: number, time: time ?? base.time, base: base)
      }
    }
    return points.values.sorted { $0.number < $1.number }
  }

  /// The fewest segments that lead from a base to a point.
  func path(to point: Point) -> [LogCatalog.Segment] {
    path(from: point.base.start, to: point.number)
  }

  /// The fewest segments that lead from one number to another; none if there is a gap.
  func path(from start: Int, to end: Int) -> [LogCatalog.Segment] {
    let reached = reach(from: start)
    var path: [LogCatalog.Segment] = []
    var number = end
    while let segment = reached[number]?.segment {
      path.append(segment)
      number = segment.first - 1
    }
    return path.reversed()
  }

  /// The last number that a base leads to; nil if there is none.
  var end: Int? { bases.map(last(from:)).max() }

  /// The last number that a base leads to.
  func last(from base: LogCatalog.Base) -> Int { reach(from: base.start).keys.max() ?? base.start }

  /// The last base that leads as far as any.
  var mainBase: LogCatalog.Base? {
    let end = end
    return bases.last { last(from: $0) == end }
  }

  /// The first segment that can't be reached because one before it is missing; nil if there is none.
  var firstBehindGap: LogCatalog.Segment? {
    guard let end else { return nil }
    // Of segments that were merged, some may be left over.
    return segments.first { $0.last > end }
  }

  /// What keeps the generation's last moments from being restored, in words: something was put that isn't there any
  /// more. Nil if nothing is known to be missing, as of a generation whose first whole copy isn't complete yet.
  var loss: String? {
    guard let end, let last = points().last else {
      if !bases.isEmpty { return "segments of its whole copy are missing" }
      return wholes.isEmpty ? nil : "its whole copy is missing"
    }
    if let behind = firstBehindGap {
      return "segments before \(behind.first) are missing, after \(last.number)"
    }
    // What the last owner has found, or has put before it began another generation.
    let known = ends.filter { $0.epoch == lastEnd?.epoch }.map(\.last).max() ?? 0
    return known > end ? "segments up to \(known) are missing, after \(last.number)" : nil
  }

  /// The parts of a base, in order; nil if one is missing.
  func parts(of base: LogCatalog.Base, count: Int) -> [LogObject]? {
    var found: [Int: LogObject] = [:]
    for part in parts where part.start == base.start && part.epoch == base.epoch {
      found[part.number] = part.object
    }
    let all = (0..<count).compactMap { found[$0] }
    return all.count == count ? all : nil
  }
}
