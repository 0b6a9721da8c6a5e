import Glibc
import LarderSQLite

/// The chain of segments that a shipper continues, and its end in the sink.
struct LogChain {
  let generation: GenerationName
  let epoch: Int
  /// The number of the last segment in the sink; 0 for none.
  var last: Int
  /// The link of that segment, which the next one names as its predecessor's.
  var link: UInt64
  /// The place of the last commit in the sink.
  var place: LogPlace
  var pageSize: Int
  /// Whether the last segment ends within a commit.
  var isWithinCommit = false
  /// Whether there is a base from which the chain can be restored.
  var hasBase: Bool
  /// The last segment before the last base was begun.
  var baseStart = 0
  /// The bytes of the segments since that base, and of the base.
  var bytesSinceBase = 0
  var baseBytes = 0

  var position: ReplicatedDatabase.Position {
    .init(generation: generation.text, segment: last)
  }
}

/// A whole copy that is being made, a part at a time between segments.
///
/// Its parts are read at different moments. But every page that changes after the copy has begun is in one of
/// the segments that follow ``start``. So together with these, the copy is the database from the first commit
/// on that was shipped after the last part was read.
struct BaseProgress {
  /// The last segment before the copy has begun, and its link.
  let start: Int
  let link: UInt64
  var parts = 0
  var nextPage: UInt32 = 1
  var bytes = 0
  var isRead = false
}

extension LogShipper {
  /// Takes the mark, and finds out where to go on.
  @discardableResult
  func open() throws -> HeldLog {
    if let held, isFollowing { return held }
    let opened = try held ?? HeldLog(of: location, configuration)
    // Checkpoints of others ask it to move its mark, however long the sink takes.
    held = opened
    do {
      let former = try chain ?? formerChain()
      if let former, former.pageSize == opened.pageSize, former.hasBase,
        try continues(former, opened)
      {
        chain = former
      } else {
        try beginGeneration(opened, after: former)
      }
    } catch {
      // A log that is held before the sink answers stays so.
      if !plan.isLazy || opened.hasFailed { releaseMark() }
      throw error
    }
    isFollowing = true
    sweep = 1
    publishPosition()
    return opened
  }

  /// Becomes the owner, and reads the end of the chain in the sink; nil if there is none.
  private func formerChain() throws -> LogChain? {
    let owner = try LogOwner(of: prefix, in: sink, as: Self.ownerText(location))
    let epoch = owner.epoch
    (self.owner, lastWholeCheck) = (owner, MonotonicClock.now)
    keepUpSoon(epoch)
    let catalog = try LogCatalog(erased: sink, prefix)
    var former: LogChain?
    if let generation = catalog.generations.last {
      former = try chain(of: generation, epoch)
      if former == nil, let loss = generation.loss {
        report(
          DatabaseError(
            .mismatch,
            "the log begins a new generation with a whole copy: of \(generation.name.text), \(loss)"
          ))
      }
      // An earlier owner may be about to put another segment, which this one won't continue.
      let last = max(
        generation.segments.map(\.last).max() ?? 0, generation.bases.map(\.end).max() ?? 0)
      try putEnd(of: generation.name, last, epoch)
    }
    let none = LogChain(
      generation: catalog.generations.last?.name ?? GenerationName(epoch: epoch, time: 0),
      epoch: epoch, last: 0, link: 0, place: LogPlace(), pageSize: 0, hasBase: false)
    knownMigrations = Set(catalog.generations.flatMap { $0.migrations.map(\.name) })
    return former ?? none
  }

  private func putEnd(of generation: GenerationName, _ last: Int, _ epoch: Int) throws {
    let name = ObjectName.end(last: last, epoch: epoch).text
    _ = try sink.put("\(prefix)\(generation.text)/\(name)", Array(Self.ownerText(location).utf8))
  }

  private func chain(of generation: LogCatalog.Generation, _ epoch: Int) throws -> LogChain? {
    guard let base = generation.mainBase, generation.firstBehindGap == nil else { return nil }
    let reached = generation.reach(from: base.start)
    guard let last = reached.keys.max(), last >= base.end else { return nil }
    let lastCommit = reached.filter { $0.value.segment?.isCommit ?? true }.keys.max() ?? last
    func segment(_ number: Int) throws -> LogSegment {
      let object = reached[number]?.segment?.object ?? base.object
      guard let bytes = try sink.get(object.name) else {
        throw DatabaseError(.notFound, "\(object.name) is listed, but isn't there")
      }
      return try LogSegment(decoding: bytes, name: object.name)
    }
    let end = try segment(last)
    guard end.owner == identity else {
      // A database that was removed, and created again under the same key.
      if plan.isLazy { return nil }
      throw DatabaseError(
        .misuse,
        "the log “\(prefix.dropLast())” in the sink belongs to another database: use another name")
    }
    let commit = last == lastCommit ? end : try segment(lastCommit)
    let isBase = end.kind == .complete
    return LogChain(
      generation: generation.name, epoch: epoch, last: last,
      link: isBase ? end.previous : end.link, place: commit.place, pageSize: end.pageSize,
      isWithinCommit: last != lastCommit, hasBase: true,
      baseStart: base.start,
      bytesSinceBase: generation.path(from: base.start, to: last).reduce(0) {
        $0 + $1.object.bytes
      },
      baseBytes: generation.parts.filter { $0.start == base.start }.reduce(0) {
        $0 + $1.object.bytes
      })
  }

  /// Whether the held log goes on where the chain has ended, or the pages that differ are known.
  private func continues(_ former: LogChain, _ opened: HeldLog) throws -> Bool {
    let moment = PageTable.Moment(
      generation: former.generation.text, segment: former.last, link: former.link,
      pageSize: former.pageSize)
    if table.isEmpty, let saved = PageTable(savedBeside: location.path, at: moment) {
      table = saved
    }
    if !former.isWithinCommit, try opened.resume(at: former.place) { return true }
    let (first, _) = try opened.pages(from: 1, count: 1)
    guard !table.isEmpty, table.isUseful(for: first.pageCount) else { return false }
    try compare(opened)
    state.withLock { $0.statistics.comparisons += 1 }
    return true
  }

  /// Notes the pages that differ from those in the sink.
  private func compare(_ opened: HeldLog) throws {
    let count = max(1, plan.objectSize / opened.pageSize)
    var next: UInt32 = 1
    while true {
      guard !isBarred else { return }
      try opened.advance()
      let (pages, _) = try opened.pages(from: next, count: count)
      guard let last = pages.numbers.last else { return table.truncate(to: pages.pageCount) }
      var different: [UInt32] = []
      pages.forEachPage { number, page in
        if table[number] != PageTable.sum(page) { different.append(number) }
      }
      opened.note(changed: different)
      next = last + 1
    }
  }

  private func beginGeneration(_ opened: HeldLog, after former: LogChain?) throws {
    let epoch = former?.epoch ?? 1
    if let former, former.hasBase {
      report(
        DatabaseError(
          .mismatch,
          """
          the log begins a new generation with a whole copy: nobody held the write-ahead log after \
          \(former.position)
          """))
      // Followers look for it. If it can't be put, they find the new generation later.
      try? putEnd(of: former.generation, former.last, epoch)
    }
    // Names have to sort as generations follow each other, even if the clock was set back.
    var time = HeldLog.milliseconds
    if let former { time = max(time, former.generation.time + 1) }
    chain = LogChain(
      generation: GenerationName(epoch: epoch, time: time), epoch: epoch, last: 0, link: 0,
      place: opened.place, pageSize: opened.pageSize, hasBase: false)
    table.removeAll()
    pending = nil
    base = BaseProgress(start: 0, link: 0)
    state.withLock { $0.statistics.generations += 1 }
  }

  func publishPosition() {
    guard let chain else { return }
    state.withLock { $0.epoch = chain.epoch }
    state.withLock {
      $0.statistics.position = chain.hasBase && !chain.isWithinCommit ? chain.position : nil
    }
  }

  private static func ownerText(_ location: FileLocation) -> String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let random = Digits.hexadecimal(.random(in: 0 ... .max))
    return "\(host)\n\(getpid())\n\(location.path)\n\(random)\n"
  }
}
