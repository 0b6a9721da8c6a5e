import LarderSQLite

/// Segments that are merged into one, which has the last version of each page. They are added from the last to the
/// first one, so that no page is kept that isn't needed.
struct LogMerge {
  private let last: LogSegment
  private var first: LogSegment
  private var pages: [UInt32: [UInt8]] = [:]
  /// The smallest number of pages that the database had: those beyond it were cut off.
  private var lowest: UInt32

  /// The bytes of the pages.
  var bytes: Int { pages.count * last.pageSize }

  /// Begins with the last segment, which has to be a commit.
  init(endingWith segment: LogSegment) {
    (first, last, lowest) = (segment, segment, segment.pageCount)
    take(segment)
  }

  /// Adds the segment before. Throws `ResultCode.corrupt` if it isn't that.
  mutating func add(_ segment: LogSegment, _ name: String) throws {
    guard first.first == segment.last + 1, first.previous == segment.link,
      first.pageSize == segment.pageSize, first.owner == segment.owner,
      first.generation == segment.generation
    else {
      throw DatabaseError(.corrupt, "segment \(first.first) of \(name) doesn't follow")
    }
    first = segment
    take(segment)
  }

  private mutating func take(_ segment: LogSegment) {
    lowest = min(lowest, segment.pageCount)
    segment.forEachPage { number, page in
      if number <= lowest, pages[number] == nil { pages[number] = Array(page) }
    }
  }

  /// The merged segment. Pages that were cut off and added again are zero if nobody has written them since.
  func segment() -> LogSegment {
    var merged = last
    var pages = pages
    for number in (lowest..<last.pageCount).map({ $0 + 1 }) where pages[number] == nil {
      pages[number] = [UInt8](repeating: 0, count: last.pageSize)
    }
    merged.first = first.first
    merged.previous = first.previous
    merged.mergedLink = last.link
    merged.numbers = pages.keys.sorted()
    var content: [UInt8] = []
    content.reserveCapacity(bytes)
    for number in merged.numbers { content += pages[number] ?? [] }
    merged.encode(content)
    return merged
  }
}
