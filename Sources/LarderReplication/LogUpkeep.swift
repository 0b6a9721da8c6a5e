import LarderSQLite

/// The upkeep of a log in its sink: merges segments of whole minutes, hours and days, so that few objects have to
/// be fetched, and removes what is older than it has to be kept.
///
/// A merged segment has the last version of each page, and stands beside the segments that it was made of. So
/// merging changes nothing that can be restored. Only removing does: single segments are kept for a day, those of
/// minutes for a week, and those of hours as long as the log is.
///
/// **Why removing loses nothing**, also if the sink lists late or returns halves of objects. Nothing is removed
/// because another object isn't listed; only because others are there that replace it, which are fetched and
/// verified before. After each plan, the objects that remain have to lead from every whole copy as far as before,
/// and to the last segment that the owner has put. If they don't, nothing is removed.
struct LogUpkeep {
  let sink: any LogSink
  let prefix: String
  let keeping: Duration
  /// Nothing is done for one that has lost the log.
  let owner: LogOwner
  /// The generation that is being written, and the number of its last segment in the sink.
  let current: ReplicatedDatabase.Position
  /// The number at which a whole copy begins that isn't complete yet.
  let pendingBase: Int?
  /// The time in milliseconds.
  let now: Int

  private static let day = 86_400_000

  /// The largest merged segment: it is in memory.
  private static let largestMerge = 64 << 20

  /// Does what is due. Returns the bytes of the fewest segments that lead from the last whole copy to the end,
  /// and that copy's; nil if nothing is due.
  func run() throws -> (base: LogCatalog.Base, chain: Int)? {
    guard try isOwner else { return nil }
    try owner.removeFormer(from: sink)
    for level in LogLevel.allCases {
      // Each level is merged of those below.
      let catalog = try LogCatalog(erased: sink, prefix)
      guard let generation = catalog.generations.last, isComplete(generation) else { return nil }
      try merge(generation, level)
    }
    let catalog = try LogCatalog(erased: sink, prefix)
    try removeOld(catalog)
    guard let generation = catalog.generations.last, isComplete(generation),
      let base = generation.mainBase, let end = generation.end
    else { return nil }
    let path = generation.path(from: base.start, to: end)
    return (base, path.reduce(0) { $0 + $1.object.bytes })
  }

  private var isOwner: Bool {
    get throws { try owner.isLatest(in: sink) }
  }

  /// Whether a list of objects has all segments that the owner has put, up to the last one.
  private func isComplete(_ generation: LogCatalog.Generation) -> Bool {
    generation.name.text == current.generation
      && generation.end.map { $0 >= current.segment } ?? false
  }

  // MARK: Merging

  /// Merges the segments of each period that is over.
  private func merge(_ generation: LogCatalog.Generation, _ level: LogLevel) throws {
    let existing = Set(generation.segments.filter { $0.level == level }.map(\.last))
    for range in generation.periods(level.length, before: now, needed(generation))
    where !existing.contains(range.upperBound) {
      let path = generation.path(within: range)
      guard path.count > 1, try isOwner,
        let merged = try merged(path, generation), let last = path.last
      else { continue }
      let name = ObjectName.segment(
        first: merged.first, last: merged.last, epoch: merged.epoch, time: last.time,
        isCommit: true, level: level)
      _ = try sink.put(prefix + generation.name.text + "/" + name.text, merged.encoded)
    }
  }

  /// Merges segments, from the last to the first one; nil if that is too large.
  private func merged(
    _ path: [LogCatalog.Segment], _ generation: LogCatalog.Generation
  ) throws -> LogSegment? {
    var merge: LogMerge?
    for segment in path.reversed() {
      let next = try fetch(segment.object)
      if merge == nil {
        merge = LogMerge(endingWith: next)
      } else {
        try merge?.add(next, generation.name.text)
      }
      if merge.map({ $0.bytes > Self.largestMerge }) ?? false { return nil }
    }
    return merge?.segment()
  }

  private func fetch(_ object: LogObject) throws -> LogSegment {
    guard let bytes = try sink.get(object.name) else {
      throw DatabaseError(.notFound, "\(object.name) is listed, but isn't there")
    }
    return try LogSegment(decoding: bytes, name: object.name)
  }

  // MARK: Removing

  private func removeOld(_ catalog: LogCatalog) throws {
    guard let last = catalog.generations.last, isComplete(last), try isOwner else { return }
    let cutoff = now - Int(clamping: keeping.inNanoseconds / 1_000_000)
    let isBegun = try last.bases.contains { try $0.time <= cutoff && isWhole($0, last) }
    for generation in catalog.generations {
      let isOld =
        generation.name != last.name && isBegun
        && (generation.latestTime.map { $0 < cutoff } ?? true)
      let plan = try isOld ? generation.everything() : plan(generation, cutoff)
      guard isOld || generation.reaches(asFarWithout: plan) else { continue }
      for (index, object) in plan.enumerated() {
        // Another owner may have begun meanwhile.
        if index % 100 == 0, try !isOwner { return }
        try sink.remove(object.name)
      }
    }
  }

  /// Whether a whole copy's end and all of its parts are there.
  private func isWhole(
    _ base: LogCatalog.Base, _ generation: LogCatalog.Generation
  ) throws -> Bool {
    let end = try fetch(base.object)
    return end.kind == .complete && end.first == base.start && end.end == base.end
      && generation.parts(of: base, count: end.last) != nil
  }

  /// The objects to remove, in order: what says that there is a whole copy first, then its end, so that nobody begins
  /// with one that has lost a part.
  private func plan(_ generation: LogCatalog.Generation, _ cutoff: Int) throws -> [LogObject] {
    // Each owner has put one, of which only the latest one's counts.
    var plan = generation.ends.filter { $0.epoch < generation.lastEnd?.epoch ?? 0 }.map(\.object)
    var rest = generation
    // The newest whole copy from which all that has to be kept can be restored.
    let end = generation.end
    let base = try generation.bases.last {
      try $0.time <= cutoff && generation.last(from: $0) == end
        && isWhole($0, generation)
    }
    if let base {
      plan += generation.wholes.filter { $0.start < base.start }.map(\.object)
      plan += generation.bases.filter { $0.start < base.start }.map(\.object)
      plan += generation.segments.filter { $0.last <= base.start }.map(\.object)
      plan += generation.parts.filter { $0.start < base.start }.map(\.object)
      plan += generation.migrations.filter { $0.segment <= base.start }.map(\.object)
      rest.segments.removeAll { $0.last <= base.start }
    }
    return try plan + replaced(rest)
  }

  /// The numbers that have to remain: whole copies begin and end there.
  private func needed(_ generation: LogCatalog.Generation) -> Set<Int> {
    Set(generation.bases.flatMap { [$0.start, $0.end] } + [pendingBase ?? 0])
  }

  /// The segments that longer ones replace: single ones after a day, those of minutes after a week.
  private func replaced(_ generation: LogCatalog.Generation) throws -> [LogObject] {
    let needed = needed(generation)
    var verified: [LogCatalog.Segment: Bool] = [:]
    return try generation.segments.filter { segment in
      guard segment.level != .hours, segment.level != .days, !needed.contains(segment.last),
        let longer = generation.segments.first(where: {
          guard $0.first <= segment.first, segment.last <= $0.last, $0 != segment else {
            return false
          }
          return switch $0.level {
          case .minutes: segment.level == nil && segment.time < now - Self.day
          case .hours: segment.time < now - 7 * Self.day
          case .days, nil: false
          }
        })
      else { return false }
      if let known = verified[longer] { return known }
      let found = try fetch(longer.object)
      let isSound = found.first == longer.first && found.last == longer.last && found.isCommit
      verified[longer] = isSound
      return isSound
    }.map(\.object)
  }
}

extension LogCatalog.Generation {
  /// The numbers of the shortest segments of each period that is over, if they are of one owner and end with a
  /// commit. No period reaches beyond the beginning or end of a whole copy.
  fileprivate func periods(
    _ length: Int, before now: Int, _ needed: Set<Int>
  ) -> [ClosedRange<Int>] {
    var periods: [ClosedRange<Int>] = []
    var current: (first: Int, last: LogCatalog.Segment)?
    var begin: Int?
    func close() {
      if let current, current.last.time / length < now / length {
        periods.append(current.first...current.last.last)
      }
    }
    for segment in finest() {
      let first = begin ?? segment.first
      begin = first
      guard segment.isCommit else { continue }
      if let known = current,
        known.last.time / length != segment.time / length || known.last.epoch != segment.epoch
          || known.last.last + 1 != first || needed.contains(known.last.last)
      {
        close()
        current = nil
      }
      current = (current?.first ?? first, segment)
      begin = nil
    }
    close()
    return periods
  }

  /// The shortest segments, in order.
  private func finest() -> [LogCatalog.Segment] {
    var shortest: [Int: LogCatalog.Segment] = [:]
    for segment in segments {
      if let known = shortest[segment.first], known.last <= segment.last { continue }
      shortest[segment.first] = segment
    }
    var found: [LogCatalog.Segment] = []
    for segment in shortest.values.sorted(by: { $0.first < $1.first })
    where segment.first > (found.last?.last ?? 0) {
      found.append(segment)
    }
    return found
  }

  /// The fewest segments that make up a range; none if there is a gap.
  fileprivate func path(within range: ClosedRange<Int>) -> [LogCatalog.Segment] {
    var part = self
    part.segments = segments.filter { range.contains($0.first) && range.contains($0.last) }
    return part.path(from: range.lowerBound - 1, to: range.upperBound)
  }

  fileprivate var latestTime: Int? { (segments.map(\.time) + bases.map(\.time)).max() }

  /// All objects, in the order in which they are removed.
  fileprivate func everything() -> [LogObject] {
    wholes.map(\.object) + bases.map(\.object) + segments.map(\.object) + parts.map(\.object)
      + migrations.map(\.object) + ends.map(\.object)
  }

  /// Whether every whole copy that remains leads as far as before, and at least one to the end.
  fileprivate func reaches(asFarWithout removed: [LogObject]) -> Bool {
    guard !removed.isEmpty else { return false }
    let names = Set(removed.map(\.name))
    var rest = self
    rest.segments.removeAll { names.contains($0.object.name) }
    rest.bases.removeAll { names.contains($0.object.name) }
    return rest.end == end
      && rest.bases.allSatisfy { rest.last(from: $0) == last(from: $0) }
  }
}
