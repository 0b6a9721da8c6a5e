import Dispatch
import FoundationEssentials
import LarderSQLite

/// The upkeep of a log in its sink: merges segments of whole minutes, hours and days, so that few objects have to
/// be fetched, and removes what is older than it has to be kept.
///
/// A merged segment has the last version of each page, and stands beside the segments that it was made of. So
/// merging changes nothing that can be restored. Only removing does: single segments are kept for a day, those of
/// minutes for a week, and those of hours as long as the log is.
struct LogUpkeep {
  let sink: any LogSink
  let prefix: String
  let keeping: Duration

  private static let day = 86_400_000
  /// How long the levels' segments are, in milliseconds.
  private static let lengths = [60_000, 3_600_000, day]

  /// The largest sum of objects that are merged: all of them are in memory.
  private static let largestMerge = 64 << 20

  /// Does what is due.
  ///
  /// - Parameters:
  ///   - epoch: the owner's; nothing is done for one that has lost the log.
  ///   - now: the time in milliseconds.
  func run(epoch: Int, now: Int) throws {
    guard try isOwner(epoch) else { return }
    var catalog = try LogCatalog(erased: sink, prefix)
    if var current = catalog.generations.last {
      for length in Self.lengths {
        try merge(current, length, now)
        // The next level is merged of this one's segments.
        catalog = try LogCatalog(erased: sink, prefix)
        current = catalog.generations.last ?? current
      }
    }
    try removeOld(catalog, epoch, now)
  }

  private func isOwner(_ epoch: Int) throws -> Bool {
    try sink.get(OwnerName.name(prefix, epoch + 1)) == nil
  }

  // MARK: Merging

  /// Merges the segments of each period that is over.
  private func merge(_ generation: LogCatalog.Generation, _ length: Int, _ now: Int) throws {
    var existing = Set(generation.segments.map { [$0.first, $0.last] })
    for period in Self.periods(generation, length, now) {
      guard let first = period.first, let last = period.last, period.count > 1,
        existing.insert([first.first, last.last]).inserted
      else { continue }
      // The fewest objects that make it up.
      let range = generation.within(first.first...last.last)
      guard range.count > 1,
        range.reduce(0, { $0 + $1.object.bytes }) <= Self.largestMerge
      else { continue }
      let segments = try range.map { try fetch($0.object) }
      guard let merged = try LogSegment(merging: segments, generation.name.text) else { continue }
      let name = ObjectName.segment(
        first: merged.first, last: merged.last, epoch: merged.epoch, time: merged.time,
        isCommit: true)
      _ = try sink.put(prefix + generation.name.text + "/" + name.text, merged.encoded)
    }
  }

  /// The single segments of each period of that length, which are of one owner and end with a commit.
  private static func periods(
    _ generation: LogCatalog.Generation, _ length: Int, _ now: Int
  ) -> [[LogCatalog.Segment]] {
    var periods: [[LogCatalog.Segment]] = []
    var current: [LogCatalog.Segment] = []
    var open: [LogCatalog.Segment] = []
    let needed = Set(generation.bases.flatMap { [$0.start, $0.end] })
    for segment in generation.finest() {
      open.append(segment)
      guard segment.isCommit else { continue }
      let isOfOne = open.allSatisfy { $0.epoch == segment.epoch }
      if let former = current.last,
        !isOfOne || former.time / length != segment.time / length || former.epoch != segment.epoch
          || needed.contains(former.last)
      {
        periods.append(current)
        current = []
      }
      if isOfOne { current += open }
      open = []
    }
    if let last = current.last, last.time / length < now / length { periods.append(current) }
    return periods
  }

  private func fetch(_ object: LogObject) throws -> LogSegment {
    guard let bytes = try sink.get(object.name) else {
      throw DatabaseError(.notFound, "\(object.name) is listed, but isn't there")
    }
    return try LogSegment(decoding: bytes, name: object.name)
  }

  // MARK: Removing

  private func removeOld(_ catalog: LogCatalog, _ epoch: Int, _ now: Int) throws {
    let cutoff = now - keeping.inNanoseconds / 1_000_000
    for (index, generation) in catalog.generations.enumerated() {
      let isLast = index == catalog.generations.count - 1
      let newest = generation.segments.map(\.time).max() ?? generation.bases.last?.time ?? .max
      // A later generation has to have a whole copy that is old enough.
      let isSucceeded = catalog.generations[(index + 1)...].contains {
        $0.bases.contains { $0.time <= cutoff }
      }
      if !isLast, isSucceeded, newest < cutoff {
        try remove(generation.objects)
        continue
      }
      if let base = generation.bases.last(where: { $0.time <= cutoff }) {
        try remove(
          generation.segments.filter { $0.last <= base.start }.map(\.object)
            + generation.bases.filter { $0.end < base.end && $0.start < base.start }.map(\.object)
            + generation.parts.filter { $0.start < base.start }.map(\.object))
      }
      // Parts of copies that a former owner didn't complete.
      try remove(
        generation.parts.filter { part in
          part.epoch < epoch
            && !generation.bases.contains { $0.start == part.start && $0.epoch == part.epoch }
        }.map(\.object))
      try removeMerged(generation, now)
    }
    let owners = try sink.list(prefix + OwnerName.folder)
    try remove(owners.filter { OwnerName.epoch($0.name).map { $0 < epoch - 2 } ?? false })
  }

  /// Removes old segments that are within longer ones: single ones after a day, those of minutes after a week.
  private func removeMerged(_ generation: LogCatalog.Generation, _ now: Int) throws {
    // A base begins or ends at these numbers, which have to remain.
    let needed = Set(generation.bases.flatMap { [$0.start, $0.end] })
    // One that was merged before a base was complete may span its beginning.
    let longer = generation.segments.filter { segment in
      segment.first < segment.last
        && !needed.contains { segment.first <= $0 && $0 < segment.last }
    }
    var ends: [Int: Int] = [:]
    for segment in generation.segments { ends[segment.last] = segment.time }
    func isShort(_ segment: LogCatalog.Segment) -> Bool {
      guard segment.first < segment.last else { return segment.time < now - Self.day }
      guard let before = ends[segment.first - 1] else { return false }
      return segment.time - before <= 120_000 && segment.time < now - 7 * Self.day
    }
    try remove(
      generation.segments.filter { segment in
        isShort(segment) && !needed.contains(segment.last) && !needed.contains(segment.first - 1)
          && longer.contains {
            $0.first <= segment.first && segment.last <= $0.last && $0 != segment
          }
      }.map(\.object))
  }

  private func remove(_ objects: [LogObject]) throws {
    for object in objects { try sink.remove(object.name) }
  }
}

extension LogSegment {
  /// Merges segments that follow each other, the last of which is a commit: the last version of each page
  /// remains. Nil if there are none. Throws `ResultCode.corrupt` if they don't follow each other.
  init?(merging segments: [LogSegment], _ name: String) throws {
    guard let first = segments.first, let last = segments.last else { return nil }
    for (one, next) in zip(segments, segments.dropFirst()) {
      guard next.first == one.last + 1, next.previous == one.link, next.pageSize == one.pageSize,
        next.owner == one.owner, next.generation == one.generation
      else { throw DatabaseError(.corrupt, "segment \(next.first) of \(name) doesn't follow") }
    }
    self = last
    self.first = first.first
    previous = first.previous
    mergedLink = last.link
    var latest: [UInt32: Int] = [:]
    for (index, segment) in segments.enumerated() {
      for number in segment.numbers { latest[number] = index }
    }
    numbers = latest.keys.filter { $0 <= last.pageCount }.sorted()
    var positions: [UInt32: Int] = [:]
    for (position, number) in numbers.enumerated() { positions[number] = position }
    var pages = [UInt8](repeating: 0, count: numbers.count * last.pageSize)
    pages.withUnsafeMutableBytes { all in
      for (index, segment) in segments.enumerated() {
        segment.forEachPage { number, page in
          guard latest[number] == index, let position = positions[number] else { return }
          UnsafeMutableRawBufferPointer(
            rebasing: all[(position * page.count)..<((position + 1) * page.count)]
          ).copyMemory(from: page)
        }
      }
    }
    encode(pages)
  }
}

extension LogCatalog.Generation {
  /// The most segments that lead to the last one, without a gap.
  fileprivate func finest() -> [LogCatalog.Segment] {
    var reached: [Int: Step] = [:]
    for segment in segments {
      let count = (reached[segment.first - 1]?.count ?? 0) + 1
      if let known = reached[segment.last], known.count >= count { continue }
      reached[segment.last] = Step(count: count, segment: segment)
    }
    var path: [LogCatalog.Segment] = []
    var number = reached.keys.max() ?? 0
    while let segment = reached[number]?.segment {
      path.append(segment)
      number = segment.first - 1
    }
    return path.reversed()
  }

  /// The fewest segments that make up a range; none if there is a gap.
  fileprivate func within(_ range: ClosedRange<Int>) -> [LogCatalog.Segment] {
    var part = self
    part.segments = segments.filter {
      range.contains($0.first) && range.contains($0.last)
        && !($0.first == range.lowerBound && $0.last == range.upperBound)
    }
    let reached = part.reach(from: range.lowerBound - 1)
    var path: [LogCatalog.Segment] = []
    var number = range.upperBound
    while let segment = reached[number]?.segment {
      path.append(segment)
      number = segment.first - 1
    }
    return number == range.lowerBound - 1 ? path.reversed() : []
  }

  fileprivate var objects: [LogObject] {
    segments.map(\.object) + parts.map(\.object) + bases.map(\.object)
  }
}
