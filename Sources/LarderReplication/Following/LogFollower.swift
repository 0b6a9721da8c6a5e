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
  /// The link of the last segment; nil if it isn't known.
  private var link: UInt64?
  /// How often in a row nothing was found.
  private var idleLooks = 0

  struct State {
    var position = ReplicatedDatabase.Position(generation: "", segment: 0)
    var error: (any Error)?
    var isClosed = false
    var waiters: [(position: ReplicatedDatabase.Position, request: ShipRequest)] = []
  }

  /// After so many looks for the next segment, all of the log is listed: it may have begun anew.
  private static let longestSearch = 10

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

  // MARK: When

  /// Opens the file, or restores it.
  func open() throws {
    try queue.sync {
      if access(path, F_OK) != 0 {
        let position = try LogRestoring.restore(sink, prefix, to: path, configuration)
        try save(position, nil)
      } else if let saved = savedPosition() {
        link = saved.link
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
      if isNew, let error = error as? DatabaseError { configuration.log?(error) }
    }
    return true
  }

  // MARK: Following

  private func follow() throws {
    idleLooks += 1
    if idleLooks % Self.longestSearch != 1, try !isThereMore() { return }
    let catalog = try LogCatalog(erased: sink, prefix)
    guard
      let generation = catalog.generations.last(where: { $0.end != nil && !$0.points().isEmpty })
    else { return }
    let position = position
    if generation.name.text == position.generation,
      let last = generation.points().last(where: { $0.number >= position.segment })
    {
      guard last.number > position.segment else { return }
      let path = generation.path(from: position.segment, to: last.number)
      if !path.isEmpty {
        try commit(path, generation)
        idleLooks = 0
        return
      }
    } else if generation.name.text < position.generation {
      return
    }
    try jump()
  }

  /// Whether there is a segment behind the last one.
  private func isThereMore() throws -> Bool {
    let position = position
    let name = "\(prefix)\(position.generation)/log-\(Digits.padded(position.segment + 1, 12))-"
    return try !sink.list(name).isEmpty
  }

  /// Commits segments, one commit of the log at a time.
  private func commit(
    _ path: [LogCatalog.Segment], _ generation: LogCatalog.Generation
  ) throws {
    guard let file else { return }
    var open: [LogSegment] = []
    var link = link
    for object in path {
      guard !state.withLock({ $0.isClosed }) else { return }
      guard let bytes = try sink.get(object.object.name) else {
        throw DatabaseError(.notFound, "\(object.object.name) is listed, but isn't there")
      }
      let segment = try LogSegment(decoding: bytes, name: object.object.name)
      guard segment.kind == .changes, segment.generation == generation.name.checksum,
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
      try save(.init(generation: generation.name.text, segment: segment.last), segment.link)
    }
  }

  private var sizeError: DatabaseError {
    DatabaseError(
      .mismatch,
      "the log is of another size of pages by now: remove the copy \(path), and open it anew")
  }

  /// Commits what differs from the log's last position.
  private func jump() throws {
    guard let file else { return }
    let draft = path + "-next"
    defer { NewFile.remove(draft) }
    NewFile.remove(draft)
    let position = try LogRestoring.restore(sink, prefix, to: draft, configuration)
    guard position > self.position else { return }
    let size = try Self.pageSize(of: draft)
    guard size == file.pageSize else { throw sizeError }
    try file.commit(pagesOf: draft)
    try save(position, nil)
    idleLooks = 0
  }

  private static func pageSize(of path: String) throws -> Int {
    let database = try Database(path: path, configuration: Configuration().forCopying)
    defer { database.closeEverything() }
    return try database.value("PRAGMA page_size", as: Int.self) ?? 0
  }

  // MARK: The position

  private var positionPath: String { path + "-followed" }

  private func save(_ position: ReplicatedDatabase.Position, _ link: UInt64?) throws {
    let text = "\(position)\n\(link.map { String($0, radix: 16) } ?? "")\n"
    // It may be older than the file, never later: what was committed before is only committed again.
    try? Data(text.utf8).write(to: URL(filePath: positionPath), options: .atomic)
    self.link = link
    let served = state.withLock { state in
      state.position = position
      let served = state.waiters.filter { $0.position <= position }
      state.waiters.removeAll { $0.position <= position }
      return served
    }
    for waiter in served { waiter.request.resume() }
  }

  private func savedPosition() -> (position: ReplicatedDatabase.Position, link: UInt64?)? {
    guard let data = try? Data(contentsOf: URL(filePath: positionPath)) else { return nil }
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, let position = ReplicatedDatabase.Position(String(lines[0])) else {
      return nil
    }
    return (position, UInt64(lines[1], radix: 16))
  }
}

/// Restoring from a sink whose type isn't known.
enum LogRestoring {
  static func restore(
    _ sink: any LogSink, _ prefix: String, to path: String, _ configuration: Configuration
  ) throws -> ReplicatedDatabase.Position {
    func restore(_ sink: some LogSink) throws -> ReplicatedDatabase.Position {
      try ReplicatedDatabase.restore(
        from: sink, name: String(prefix.dropLast()), to: path, configuration: configuration)
    }
    return try restore(sink)
  }
}
