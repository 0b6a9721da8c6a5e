import Dispatch
import FoundationEssentials
import Glibc
import LarderSQLite

extension ReplicatedDatabase {
  /// A moment of a log to restore.
  public enum Moment: Hashable, Sendable {
    /// The last one that there is.
    case latest
    /// The last one that isn't later: what was committed up to then, and nothing else. A segment covers about
    /// a second, so that the last second before may be missing.
    case time(Date)
    /// That of a segment.
    case position(Position)
    /// The last one before a migration was applied. What was committed within the same second is missing.
    case before(migration: String)
  }

  /// Restores a database from a log. See ``ReplicatedDatabase``.
  ///
  /// Until it is there as a whole, the former content stays, even if the process is killed. Every object is
  /// verified by its checksum and by that of its predecessor, and the whole file by SQLite's check. The file
  /// is byte for byte the database at that moment, except for the header's two bytes that tell that it has no
  /// write-ahead log.
  ///
  /// - Parameters:
  ///   - sink: the place that the log is in.
  ///   - name: the database's name there; nil if there is only one.
  ///   - path: the path of the database's file.
  ///   - moment: the moment.
  ///   - check: the check that the file has to pass.
  ///   - configuration: how to open it, with its key.
  /// - Returns: The position that was restored.
  /// - Throws: `ResultCode.notFound` if there is no such moment, or the log has a gap there, which the error
  ///   names; `ResultCode.corrupt` if an object is damaged; `ResultCode.busy` if others have the database open.
  @discardableResult
  public static func restore(
    from sink: some LogSink, name: String? = nil, to path: String, at moment: Moment = .latest,
    check: CopyCheck = .quick, configuration: Configuration = .init()
  ) throws -> Position {
    try restored(from: sink, prefix(in: sink, name), to: path, at: moment, check, configuration)
      .position
  }

  /// Restores a database, and returns the position with what is needed to go on from there.
  static func restored(
    from sink: some LogSink, _ prefix: String, to path: String, at moment: Moment,
    _ check: CopyCheck, _ configuration: Configuration
  ) throws -> LogEnd {
    let catalog = try LogCatalog(sink, prefix)
    let (generation, point) = try catalog.find(moment)
    let draft = path + "-" + String(UInt32.random(in: .min ... .max), radix: 16)
    defer { NewFile.remove(draft) }
    let restore = try RestoredFile(draft, sink, generation, point)
    let (link, epoch) = try restore.fetch()
    try restore.finish()
    try Database.verify(draft, check, configuration)
    let isNew = try access(path, F_OK) != 0 && NewFile.publish(draft, as: path)
    if !isNew { try replace(path, by: draft, configuration) }
    let position = Position(generation: generation.name.text, segment: point.number)
    return LogEnd(position: position, link: link, epoch: epoch)
  }

  /// Replaces the content of a database that exists.
  private static func replace(
    _ path: String, by draft: String, _ configuration: Configuration
  ) throws {
    var reading = configuration
    reading.readOnly = true
    reading.journalMode = nil
    reading.removesOwnLog = true
    let source = try Database(path: draft, configuration: reading)
    var writing = configuration
    // Leaving WAL mode takes exclusive use of the file.
    writing.journalMode = .delete
    writing.synchronous = .extra
    let target = try Database(path: path, configuration: writing)
    try target.restore(from: source)
    try target.close()
    try source.close()
  }

  /// The prefix of a database's objects in a sink.
  static func prefix(in sink: some LogSink, _ name: String?) throws -> String {
    if let name { return name + "/" }
    let prefixes = try LogCatalog.prefixes(in: sink)
    guard let only = prefixes.first, prefixes.count == 1 else {
      throw DatabaseError(
        .notFound,
        prefixes.isEmpty
          ? "there is no log"
          : "there are logs of several databases, so a name is needed: \(prefixes.map { $0.dropLast() }.joined(separator: ", "))"
      )
    }
    return only
  }
}

/// The end of what was restored, from where a follower goes on.
struct LogEnd {
  var position: ReplicatedDatabase.Position
  /// The link of the last segment; nil if it isn't known.
  var link: UInt64?
  /// The number of the owner that has put it; nil if it isn't known.
  var epoch: Int?
}

/// A file that is made from a log.
private final class RestoredFile<Sink: LogSink>: Sendable {
  private let sink: Sink
  private let generation: LogCatalog.Generation
  private let point: LogCatalog.Generation.Point
  private let descriptor: Int32
  private let path: String
  private let pageSize: Int
  private let owner: UInt64
  private let base: LogSegment
  private let pageCount: Lock<UInt32>

  /// How many objects are fetched at a time.
  private static var width: Int { 6 }

  init(
    _ path: String, _ sink: Sink, _ generation: LogCatalog.Generation,
    _ point: LogCatalog.Generation.Point
  ) throws {
    self.sink = sink
    self.generation = generation
    self.point = point
    self.path = path
    base = try Self.segment(point.base.object, sink, generation)
    guard base.kind == .complete, base.first == point.base.start, base.end == point.base.end
    else {
      throw DatabaseError(.corrupt, "\(point.base.object.name) isn't what its name says")
    }
    (pageSize, owner) = (base.pageSize, base.owner)
    pageCount = Lock(base.pageCount)
    descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.error(path) }
  }

  deinit { close(descriptor) }

  private static func segment(
    _ object: LogObject, _ sink: Sink, _ generation: LogCatalog.Generation
  ) throws -> LogSegment {
    guard let bytes = try sink.get(object.name) else {
      throw DatabaseError(.notFound, "\(object.name) is listed, but isn't there")
    }
    let segment = try LogSegment(decoding: bytes, name: object.name)
    guard segment.generation == generation.name.checksum else {
      throw DatabaseError(.corrupt, "\(object.name) belongs to another generation")
    }
    return segment
  }

  private func fetch(_ object: LogObject) throws -> LogSegment {
    let segment = try Self.segment(object, sink, generation)
    guard segment.pageSize == pageSize, segment.owner == owner else {
      throw DatabaseError(.corrupt, "\(object.name) belongs to another database")
    }
    return segment
  }

  /// Fetches the base and the segments. Returns the link of the last segment, and its owner's number.
  func fetch() throws -> (link: UInt64, epoch: Int) {
    // The end of a base tells how many parts it has.
    guard let parts = generation.parts(of: point.base, count: base.last) else {
      throw DatabaseError(.notFound, "a part of the base \(point.base.object.name) is missing")
    }
    try inParallel(parts) { part, object in
      let name = ObjectName.part(start: part.first, number: part.last, epoch: part.epoch)
      guard part.kind == .base, object.name.hasSuffix("/" + name.text) else {
        throw DatabaseError(.corrupt, "\(object.name) isn't the part of a base that its name says")
      }
      try self.write(part)
    } then: { _, _ in
    }
    var link: UInt64?
    var epoch = base.epoch
    var number = base.first
    try inParallel(generation.path(to: point)) { _, _ in
    } then: { segment, name in
      guard segment.kind == .changes, segment.first == number + 1,
        link == nil || segment.previous == link,
        number > self.base.first || link != nil
          || segment.previous == self.base.previous
      else {
        throw DatabaseError(
          .corrupt, "\(name.object.name) doesn't follow what is before it: the chain is broken")
      }
      (link, number, epoch) = (segment.link, segment.last, segment.epoch)
      try self.write(segment)
      try self.setPageCount(segment.pageCount)
    }
    guard number == point.number else {
      throw DatabaseError(.notFound, "the log ends at segment \(number) of \(point.number)")
    }
    return (link ?? base.previous, epoch)
  }

  /// Fetches objects, several at a time, and calls the first closure with each on any thread, the second one in
  /// their order.
  private func inParallel<Object: Fetched>(
    _ objects: [Object], each: @Sendable @escaping (LogSegment, LogObject) throws -> Void,
    then: (LogSegment, Object) throws -> Void
  ) throws {
    var rest = objects[...]
    while !rest.isEmpty {
      // The memory is bounded by the largest objects' size.
      let some = Array(rest.prefix(Self.width))
      rest = rest.dropFirst(Self.width)
      let names = some.map(\.object)
      let results = Lock([Int: Result<LogSegment, any Error>]())
      DispatchQueue.concurrentPerform(iterations: names.count) { index in
        let result = Result {
          let segment = try self.fetch(names[index])
          try each(segment, names[index])
          return segment
        }
        results.withLock { $0[index] = result }
      }
      let fetched = results.withLock { $0 }
      for index in some.indices {
        if let segment = try fetched[index]?.get() { try then(segment, some[index]) }
      }
    }
  }

  /// Cuts off what is beyond the end of the database. Pages that are added again later are zero until they are
  /// written.
  private func setPageCount(_ count: UInt32) throws {
    let isLess = pageCount.withLock { known in
      defer { known = count }
      return count < known
    }
    guard !isLess || ftruncate(descriptor, off_t(count) * off_t(pageSize)) == 0 else {
      throw Self.error(path)
    }
  }

  private func write(_ segment: LogSegment) throws {
    try segment.forEachRun { number, pages in
      let start = off_t(number - 1) * off_t(pageSize)
      var done = 0
      while done < pages.count, let base = pages.baseAddress {
        let written = pwrite(descriptor, base + done, pages.count - done, start + off_t(done))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw Self.error(path) }
        done += written
      }
    }
  }

  /// Sets the size, notes in the header that the file has no write-ahead log, and syncs it.
  func finish() throws {
    let count = pageCount.withLock { $0 }
    guard ftruncate(descriptor, off_t(count) * off_t(pageSize)) == 0 else { throw Self.error(path) }
    var header = [UInt8](repeating: 0, count: 20)
    if pread(descriptor, &header, 20, 0) == 20,
      header[..<15].elementsEqual("SQLite format 3".utf8), header[18] == 2, header[19] == 2
    {
      guard pwrite(descriptor, [1, 1] as [UInt8], 2, 18) == 2 else { throw Self.error(path) }
    }
    guard fsync(descriptor) == 0 else { throw Self.error(path) }
  }

  private static func error(_ path: String) -> DatabaseError {
    DatabaseError(
      errno == ENOSPC ? .full : .ioError, "\(path): \(String(cString: strerror(errno)))")
  }
}

/// Something that is fetched from a sink.
private protocol Fetched { var object: LogObject { get } }

extension LogObject: Fetched { fileprivate var object: LogObject { self } }

extension LogCatalog.Segment: Fetched {}
