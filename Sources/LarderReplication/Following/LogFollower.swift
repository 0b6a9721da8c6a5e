import Dispatch
import FoundationEssentials
import Glibc
import LarderSQLite

/// Fetches what is new in a log, on a queue of its own, and commits it to a file.
///
/// Sendable because its variables are touched on its queue only, except those that its lock guards.
final class LogFollower: @unchecked Sendable {
  private let sink: any LogSink
  private let prefix: String
  private let path: String
  private let configuration: Configuration
  private let queue = DispatchQueue(label: "larder.replication.follower")
  private let state = Lock(State())
  private var file: FollowedFile?
  /// The link of the last segment, and its owner's number; nil if they aren't known.
  private var last: (link: UInt64?, epoch: Int?) = (nil, nil)
  /// The ends that were there when the log was listed last.
  private var knownEnds: Set<String> = []
  /// What has kept the log's last moment from being restored when it was listed last.
  private var loss: (any Error)?
  /// How often in a row nothing was found.
  private var idleLooks = 0

  struct State {
    var position = ReplicatedDatabase.Position(generation: "", segment: 0)
    var error: (any Error)?
    var isClosed = false
    var waiters: [(position: ReplicatedDatabase.Position, request: ShipRequest)] = []
  }

  /// After so many looks without news, a look for owners that have begun since; also how many segments are fetched
  /// at a time.
  private static let looksForOwners = 10
  /// After so many, all of the log is listed: what follows may have been merged.
  private static let looksForAll = 600

  init(
    _ sink: any LogSink, _ prefix: String, _ path: String, _ configuration: Configuration
  ) {
    (self.sink, self.prefix, self.path, self.configuration) = (sink, prefix, path, configuration)
  }

  var position: ReplicatedDatabase.Position { state.withLock { $0.position } }
  var error: (any Error)? { state.withLock { $0.error } }

  func lateError(_ position: ReplicatedDatabase.Position) -> DatabaseError {
    let state = state.withLock { $0 }
    return DatabaseError(
      .busyTimeout,
      "the copy is at \(state.position), and not at \(position) yet"
        + (state.error.map { ": \($0)" } ?? ""))
  }

  func waiter(for position: ReplicatedDatabase.Position) -> ShipRequest {
    let request = ShipRequest(0)
    let isThere = state.withLock { state in
      guard state.position < position, !state.isClosed else { return true }
      state.waiters.append((position, request))
      return false
    }
    if isThere { request.resume() }
    return request
  }

  /// Drops a waiter that was resumed since its time was up, or its task was cancelled.
  func forget(_ request: ShipRequest) {
    state.withLock { $0.waiters.removeAll { $0.request === request } }
  }

  // MARK: When

  /// Opens the file, or restores it.
  func open() throws {
    try queue.sync {
      if access(path, F_OK) != 0 {
        save(try LogRestoring.restore(sink, prefix, to: path, configuration))
      } else if let saved = savedEnd() {
        last = (saved.link, saved.epoch)
        state.withLock { $0.position = saved.position }
      }
      file = try FollowedFile(path, configuration)
      try follow()
    }
  }

  func begin(every interval: Duration) {
    queue.repeats(after: interval) { [weak self] in self?.look() ?? false }
  }

  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.request.resume() }
    queue.sync {
      file?.close()
      file = nil
    }
  }

  private func look() -> Bool {
    guard !state.withLock({ $0.isClosed }) else { return false }
    do {
      try follow()
      state.withLock { $0.error = nil }
    } catch {
      let isNew = state.withLock { state in
        defer { state.error = error }
        return state.error == nil
      }
      if isNew, let error = error as? DatabaseError { _ = configuration.reporting(error) }
    }
    return true
  }

  // MARK: Following

  private func follow() throws {
    idleLooks += 1
    let isLost = loss != nil && idleLooks % Self.looksForOwners == 1
    if idleLooks % Self.looksForAll != 1, !isLost {
      let next = try nextSegments()
      if next.isEmpty, try !isThereNewOwner() { return try checkLoss() }
      if !next.isEmpty, try commit(next) {
        idleLooks = 1
        return
      }
    }
    let catalog = try LogCatalog(erased: sink, prefix)
    do {
      loss = nil
      _ = try catalog.latest()
    } catch {
      loss = error
    }
    guard
      let generation = catalog.generations.last(where: { $0.end != nil && !$0.points().isEmpty })
    else { return try checkLoss() }
    let position = position
    if generation.name.text == position.generation {
      knownEnds = Set(generation.ends.map(\.object.name))
    }
    if isSuperseded(in: generation) { return try jump(isBack: true) }
    if generation.name.text == position.generation,
      let last = generation.points().last(where: { $0.number >= position.segment })
    {
      guard last.number > position.segment else { return try checkLoss() }
      let path = generation.path(from: position.segment, to: last.number)
      if !path.isEmpty, try commit(path) {
        idleLooks = 1
        return
      }
    } else if generation.name.text < position.generation {
      return try checkLoss()
    }
    try jump()
  }

  /// Throws if the copy has all that there is, and the log has lost what follows, or what it is restored from.
  private func checkLoss() throws { if let loss { throw loss } }

  /// The prefix of the objects of the last segment's generation.
  private var folder: String { "\(prefix)\(position.generation)/" }

  /// The segments that follow the last one up to a commit, found by their numbers. Listing all of a log takes stores a request for
  /// each thousand of its objects.
  private func nextSegments() throws -> [LogCatalog.Segment] {
    let folder = folder
    var path: [LogCatalog.Segment] = []
    var number = position.segment
    while path.count < Self.looksForOwners || path.last?.isCommit == false {
      let found = try sink.list(ObjectName.segments(from: number + 1, in: folder)).compactMap {
        object in
        ObjectName(object.name.dropFirst(folder.count)).flatMap {
          LogCatalog.Segment($0, object)
        }
      }
      guard let next = found.max(by: { ($0.epoch, $0.last) < ($1.epoch, $1.last) }) else { break }
      path.append(next)
      number = next.last
    }
    // The log may have begun anew within a commit, whose end never comes then.
    while path.last?.isCommit == false { path.removeLast() }
    return path
  }

  /// Now and then, whether there is a new owner or a new generation.
  private func isThereNewOwner() throws -> Bool {
    guard idleLooks % Self.looksForOwners == 0 else { return false }
    return try sink.list(folder + ObjectName.endPrefix).contains { !knownEnds.contains($0.name) }
  }

  /// Whether the last segment came from an owner that was none any more: then it isn't a part of the log.
  private func isSuperseded(in generation: LogCatalog.Generation) -> Bool {
    let position = position
    guard generation.name.text == position.generation, let epoch = last.epoch else { return false }
    if let end = generation.lastEnd, end.epoch > epoch, end.last < position.segment { return true }
    return generation.segments.contains { $0.epoch > epoch && $0.first <= position.segment }
  }

  /// Commits segments, one commit of the log at a time. Returns false if the first one doesn't follow what the copy
  /// has.
  private func commit(_ path: [LogCatalog.Segment]) throws -> Bool {
    guard let file, let generation = GenerationName(position.generation) else { return true }
    var open: [LogSegment] = []
    var link = last.link
    for (index, object) in path.enumerated() {
      guard !state.withLock({ $0.isClosed }) else { return true }
      guard let bytes = try sink.get(object.object.name) else {
        throw DatabaseError(.notFound, "\(object.object.name) is listed, but isn't there")
      }
      let segment = try LogSegment(decoding: bytes, name: object.object.name)
      if index == 0, let link, segment.previous != link { return false }
      guard segment.kind == .changes, segment.generation == generation.checksum,
        segment.first == object.first, segment.last == object.last,
        link == nil || segment.previous == link
      else {
        throw DatabaseError(.corrupt, "\(object.object.name) doesn't follow what is before it")
      }
      guard segment.pageSize == file.pageSize else { throw sizeError }
      link = segment.link
      open.append(segment)
      guard segment.isCommit else { continue }
      try file.commit(open)
      open = []
      save(
        LogEnd(
          position: .init(generation: generation.text, segment: segment.last),
          link: segment.link, epoch: segment.epoch))
    }
    return true
  }

  private var sizeError: DatabaseError {
    DatabaseError(
      .mismatch,
      "the log is of another size of pages by now: remove the copy \(path), and open it anew")
  }

  /// Commits what differs from the log's last position.
  ///
  /// - Parameter isBack: whether that may be an earlier position than the copy's.
  private func jump(isBack: Bool = false) throws {
    guard let file else { return }
    let draft = path + "-next"
    defer { NewFile.remove(draft) }
    NewFile.remove(draft)
    let end = try LogRestoring.restore(sink, prefix, to: draft, configuration)
    guard isBack || end.position > position else { return }
    let size = try Self.pageSize(of: draft)
    guard size == file.pageSize else { throw sizeError }
    try file.commit(pagesOf: draft)
    save(end)
    // All is listed again at the next look, which also finds the ends of the generation.
    idleLooks = 0
  }

  private static func pageSize(of path: String) throws -> Int {
    let database = try Database(path: path, configuration: Configuration().forCopying)
    defer { database.closeEverything() }
    return try database.value("PRAGMA page_size", as: Int.self) ?? 0
  }

  // MARK: The position

  private var positionPath: String { path + "-followed" }

  private func save(_ end: LogEnd) {
    let link = end.link.map { String($0, radix: 16) } ?? ""
    let text = "\(end.position)\n\(link)\n\(end.epoch.map(String.init) ?? "")\n"
    // It may be older than the file, never later: what was committed before is only committed again.
    try? Data(text.utf8).write(to: URL(filePath: positionPath), options: .atomic)
    last = (end.link, end.epoch)
    let served = state.withLock { state in
      state.position = end.position
      let served = state.waiters.filter { $0.position <= end.position }
      state.waiters.removeAll { $0.position <= end.position }
      return served
    }
    for waiter in served { waiter.request.resume() }
  }

  private func savedEnd() -> LogEnd? {
    guard let data = try? Data(contentsOf: URL(filePath: positionPath)) else { return nil }
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, let position = ReplicatedDatabase.Position(String(lines[0])) else {
      return nil
    }
    return LogEnd(position: position, link: UInt64(lines[1], radix: 16), epoch: Int(lines[2]))
  }
}

/// Restoring from a sink whose type isn't known.
enum LogRestoring {
  static func restore(
    _ sink: any LogSink, _ prefix: String, to path: String, _ configuration: Configuration
  ) throws -> LogEnd {
    try restore(from: sink, prefix, to: path, configuration)
  }

  private static func restore(
    from sink: some LogSink, _ prefix: String, to path: String, _ configuration: Configuration
  ) throws -> LogEnd {
    try ReplicatedDatabase.restored(
      from: sink, prefix, to: path, at: .latest, .quick, configuration)
  }
}
