import Glibc
import LarderSQLite

// The objects that a shipper makes: segments, the parts of whole copies, and names of migrations.

extension LogShipper {
  private func segment(_ pages: HeldLog.Pages, _ chain: LogChain) -> LogSegment {
    var segment = LogSegment()
    segment.owner = identity
    segment.generation = chain.generation.checksum
    segment.epoch = chain.epoch
    segment.time = pages.time
    segment.pageSize = pages.pageSize
    segment.pageCount = pages.pageCount
    segment.place = pages.place
    segment.isCommit = pages.isCommit
    segment.numbers = pages.numbers
    return segment
  }

  private func fullName(_ name: ObjectName, _ chain: LogChain) -> String {
    prefix + chain.generation.text + "/" + name.text
  }

  /// Makes the next segment of pages.
  func prepareSegment(_ pages: HeldLog.Pages) throws {
    guard let chain else { throw DatabaseError(.internal, "there is no chain") }
    var segment = segment(pages, chain)
    (segment.first, segment.last) = (chain.last + 1, chain.last + 1)
    segment.previous = chain.link
    segment.encode(pages.bytes)
    let sums = Self.sums(pages)
    let sent = segment
    let name = ObjectName.segment(
      first: segment.first, last: segment.last, epoch: chain.epoch, time: segment.time,
      isCommit: segment.isCommit)
    pending = Pending(
      name: fullName(name, chain), bytes: segment.encoded, since: pages.since
    ) { shipper in
      shipper.hasShipped(sent, sums)
    }
  }

  private static func sums(_ pages: HeldLog.Pages) -> [UInt64] {
    var sums: [UInt64] = []
    pages.forEachPage { _, page in sums.append(PageTable.sum(page)) }
    return sums
  }

  private func hasShipped(_ segment: LogSegment, _ sums: [UInt64]) {
    for (number, sum) in zip(segment.numbers, sums) { table[number] = sum }
    table.truncate(to: segment.pageCount)
    chain?.last = segment.last
    chain?.link = segment.link
    chain?.bytesSinceBase += segment.encoded.count
    chain?.isWithinCommit = !segment.isCommit
    if segment.isCommit { chain?.place = segment.place }
    state.withLock { state in
      state.statistics.segments += 1
      state.statistics.pages += segment.numbers.count
      if segment.isCommit, chain?.hasBase == true { state.statistics.position = chain?.position }
    }
  }

  // MARK: Sending

  /// Sends the object that is on its way. It is always the same object, so that nothing is shipped twice if an
  /// answer was lost.
  func sendPending() throws {
    guard let pending else { return }
    try waitUntilDurable()
    try checkOwner(isQuick: true)
    if try !sink.put(pending.name, pending.bytes) {
      let found = try sink.get(pending.name) ?? []
      if found != pending.bytes {
        // Half an answer says nothing, and is asked for again. A whole object is somebody else's.
        _ = try LogSegment(decoding: found, name: pending.name)
        throw lose("another object is at \(pending.name)")
      }
    }
    self.pending = nil
    // The sink answers, so that the next failure isn't one of a row.
    failures = 0
    state.withLock { $0.statistics.bytes += pending.bytes.count }
    pending.completion(self)
  }

  /// Throws if there is another owner by now.
  ///
  /// - Parameter isQuick: whether it is enough to look for the next owner, and only now and then whether this one's
  ///   object is there. Commits are acknowledged after all of it.
  func checkOwner(isQuick: Bool) throws {
    guard let owner, chain != nil else { return }
    let now = MonotonicClock.now
    let isQuick = isQuick && now - lastWholeCheck < .seconds(60)
    guard try owner.isLatest(in: sink, isQuick: isQuick) else {
      throw lose("another process has taken over the log, or what says who owns it was removed")
    }
    if !isQuick { lastWholeCheck = now }
  }

  private func lose(_ reason: String) -> DatabaseError {
    let error = DatabaseError(
      .readOnly,
      """
      \(reason): nothing is shipped any more. What was committed here and isn't in the log by now stays in \
      this file only
      """)
    note(error)
    finishWaiters { state in state.lost = error }
    return error
  }

  // MARK: Whole copies

  /// Begins another whole copy once the chain is longer than the database.
  func beginBaseIfLong() {
    guard base == nil, let chain, chain.hasBase, !chain.isWithinCommit,
      chain.bytesSinceBase > max(plan.smallestChain, chain.baseBytes)
    else { return }
    base = BaseProgress(start: chain.last, link: chain.link)
    self.chain?.bytesSinceBase = 0
  }

  /// Sends the next part of the whole copy that is being made. Returns whether there is more to do.
  func continueBase(_ held: HeldLog) throws -> Bool {
    guard let base, let chain else { return false }
    if !base.isRead {
      let (pages, _) = try held.pages(
        from: base.nextPage, count: max(1, plan.objectSize / held.pageSize))
      guard let last = pages.numbers.last else {
        self.base?.isRead = true
        // What has changed up to now has to be in the sink before the copy counts.
        try ship(held)
        return true
      }
      var part = segment(pages, chain)
      part.kind = .base
      (part.first, part.last) = (base.start, base.parts)
      part.encode(pages.bytes)
      let sums = chain.hasBase ? [] : Self.sums(pages)
      let name = ObjectName.part(start: base.start, number: base.parts, epoch: chain.epoch)
      let bytes = part.encoded.count
      pending = Pending(name: fullName(name, chain), bytes: part.encoded) { shipper in
        for (number, sum) in zip(pages.numbers, sums) { shipper.table[number] = sum }
        shipper.base?.parts += 1
        shipper.base?.bytes += bytes
        shipper.base?.nextPage = last + 1
      }
      try sendPending()
      return true
    }
    guard !chain.isWithinCommit else { return false }
    try complete(base, chain, held)
    return true
  }

  private func complete(_ base: BaseProgress, _ chain: LogChain, _ held: HeldLog) throws {
    let (pages, _) = try held.pages(from: 1, count: 1)
    var end = segment(pages, chain)
    end.kind = .complete
    end.numbers = []
    (end.first, end.last, end.end) = (base.start, base.parts, chain.last)
    end.previous = base.link
    end.place = chain.place
    end.encode([])
    let name = ObjectName.base(
      start: base.start, end: chain.last, epoch: chain.epoch, time: pages.time)
    let whole = ObjectName.whole(start: base.start, end: chain.last, epoch: chain.epoch)
    pending = Pending(name: fullName(name, chain), bytes: end.encoded) { shipper in
      // It is needed only if the end is lost later, so that it isn't waited for.
      shipper.pending = Pending(name: shipper.fullName(whole, chain), bytes: end.encoded) { _ in }
      shipper.chain?.hasBase = true
      shipper.chain?.baseBytes = base.bytes
      shipper.chain?.baseStart = base.start
      shipper.base = nil
      shipper.publishPosition()
      shipper.state.withLock { $0.statistics.bases += 1 }
    }
    try sendPending()
  }

  // MARK: The table of pages

  /// Looks for pages that the table doesn't know. They haven't changed since they were shipped, so that the
  /// sink has what the file has.
  func continueTable(_ held: HeldLog) throws -> Bool {
    guard sweep > 0, base == nil, chain?.hasBase == true else { return false }
    let (pages, isChanged) = try held.pages(
      from: sweep, count: max(1, plan.objectSize / held.pageSize))
    guard let last = pages.numbers.last else {
      sweep = 0
      return false
    }
    pages.forEachPage { number, page in
      if table[number] == 0, !isChanged(number) { table[number] = PageTable.sum(page) }
    }
    sweep = last + 1
    return true
  }

  /// Saves the table of what is in the sink for the next start. If an object was on its way and has got there all the
  /// same, the table isn't that of the last segment, and isn't read.
  func saveTable() {
    guard let chain, chain.hasBase, !table.isEmpty else { return }
    table.save(
      beside: location.path,
      .init(
        generation: chain.generation.text, segment: chain.last, link: chain.link,
        pageSize: chain.pageSize))
  }

  // MARK: Migrations

  /// Notes migrations that were applied since the last segment. The next segment has them, or the one after it
  /// does; the ones before don't.
  func checkMigrations(_ held: HeldLog) throws {
    guard let chain else { return }
    let names = try held.migrations()
    for name in names.subtracting(knownMigrations ?? []).sorted() {
      if knownMigrations != nil, chain.hasBase || chain.last > 0 {
        let object = ObjectName.migration(segment: chain.last + 1, name: name)
        _ = try sink.put(fullName(object, chain), Array(name.utf8))
      }
      knownMigrations?.insert(name)
    }
    if knownMigrations == nil { knownMigrations = names }
  }
}

extension HeldLog.Pages {
  /// Calls a closure with each page and its number.
  func forEachPage(_ body: (UInt32, UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { raw in
      for (index, number) in numbers.enumerated() {
        body(number, .init(rebasing: raw[(index * pageSize)..<((index + 1) * pageSize)]))
      }
    }
  }
}

extension HeldLog {
  /// The names of the migrations that were applied, at a moment that isn't before the last look.
  func migrations() throws -> Set<String> {
    try withReader { reader in
      let rows = try? reader.executeQuery(
        SQL(raw: "SELECT name FROM main.\(BookkeepingTables.migrations)")
      ).map { try $0.get(at: 0, as: String.self) }
      return Set(rows ?? [])
    }
  }

  /// Throws if the file isn't the one at its path any more.
  func checkFile() throws { try withReader { _ = try $0.fileLocation() } }
}
