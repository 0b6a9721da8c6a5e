import LarderSQLite

/// An object of the log: pages of a database, and what they are.
///
/// All numbers are little-endian: the fields of the header (8 bytes each), the pages' numbers (4 bytes each,
/// padded to a multiple of 8), the pages, and the checksum of everything before.
struct LogSegment {
  enum Kind: UInt64 {
    /// Pages that have changed.
    case changes = 1
    /// A part of a whole copy. ``first`` is the number of the segment before it, ``last`` the part's.
    case base = 2
    /// The end of a whole copy, without pages. ``last`` is the number of its parts, ``previous`` the link of
    /// segment ``first``, and from segment ``end`` on the copy is a commit.
    case complete = 3
  }

  var kind = Kind.changes
  /// The identity of the database.
  var owner: UInt64 = 0
  /// The checksum of the generation's name.
  var generation: UInt64 = 0
  var epoch = 0
  /// The segment's number, or those of the first and last one that it was merged of.
  var first = 0
  var last = 0
  /// The link of the segment before ``first``.
  var previous: UInt64 = 0
  /// The checksum of the last segment that this one was merged of; 0 if it was merged of none.
  var mergedLink: UInt64 = 0
  /// No commit in it is later, in milliseconds since 1970, and all later ones are in later segments.
  var time = 0
  var pageSize = 0
  /// The number of pages of the database.
  var pageCount: UInt32 = 0
  /// Whether the database is that of a commit after this segment, and not only after later ones.
  var isCommit = true
  var place = LogPlace()
  var end = 0
  var numbers: [UInt32] = []
  /// The encoded object.
  private(set) var encoded: [UInt8] = []

  private static let magic: UInt64 = 0x3130_474f_4c52_444c
  private static let fieldCount = 18

  private var fields: [UInt64] {
    [
      Self.magic, kind.rawValue, owner, generation, UInt64(epoch), UInt64(first), UInt64(last),
      previous, mergedLink, UInt64(time), UInt64(pageSize), UInt64(pageCount), isCommit ? 1 : 0,
      place.salts, UInt64(place.frame), place.checksum, UInt64(numbers.count), UInt64(end),
    ]
  }

  /// The bytes before the pages.
  private static func headSize(_ count: Int) -> Int { fieldCount * 8 + (count * 4 + 7) / 8 * 8 }

  /// The checksum that the next segment names as that of its predecessor.
  var link: UInt64 { mergedLink != 0 ? mergedLink : checksum }

  private var checksum: UInt64 {
    encoded.withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: $0.count - 8, as: UInt64.self))
    }
  }

  /// Encodes the header with the pages, which are in the order of ``numbers``.
  mutating func encode(_ pages: [UInt8]) {
    let head = Self.headSize(numbers.count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head + pages.count + 8)
    func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    for field in fields { append(field) }
    for number in numbers { append(number) }
    while bytes.count < head { bytes.append(0) }
    bytes += pages
    append(bytes.withUnsafeBytes { Checksum.of($0) })
    encoded = bytes
  }

  init() {}

  /// Decodes an object. Throws `ResultCode.corrupt` if any byte of it isn't what was encoded.
  init(decoding bytes: [UInt8], name: String) throws {
    func corrupt(_ text: String) -> DatabaseError {
      DatabaseError(.corrupt, "\(name) is damaged: \(text)")
    }
    guard bytes.count >= Self.fieldCount * 8 + 8, bytes.count % 8 == 0 else {
      throw corrupt("it has \(bytes.count) bytes")
    }
    let (fields, sum): ([UInt64], UInt64) = bytes.withUnsafeBytes { raw in
      (
        (0..<Self.fieldCount).map {
          UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
        }, Checksum.of(.init(rebasing: raw[..<(raw.count - 8)]))
      )
    }
    encoded = bytes
    guard checksum == sum else { throw corrupt("its checksum is wrong") }
    guard fields[0] == Self.magic, let kind = Kind(rawValue: fields[1]) else {
      throw corrupt("it is no segment, or one of a later version")
    }
    self.kind = kind
    (owner, generation) = (fields[2], fields[3])
    let count = Int(clamping: fields[16])
    (epoch, first, last) = (
      Int(clamping: fields[4]), Int(clamping: fields[5]), Int(clamping: fields[6])
    )
    (previous, mergedLink, time) = (fields[7], fields[8], Int(clamping: fields[9]))
    (pageSize, pageCount) = (Int(clamping: fields[10]), UInt32(clamping: fields[11]))
    (isCommit, end) = (fields[12] != 0, Int(clamping: fields[17]))
    place = LogPlace(salts: fields[13], frame: UInt32(clamping: fields[14]), checksum: fields[15])
    guard (512...65536).contains(pageSize), count < 1 << 32,
      Self.headSize(count) + count * pageSize + 8 == bytes.count
    else { throw corrupt("its size isn't that of its pages") }
    numbers = bytes.withUnsafeBytes { raw in
      (0..<count).map {
        UInt32(
          littleEndian: raw.loadUnaligned(
            fromByteOffset: Self.fieldCount * 8 + $0 * 4, as: UInt32.self))
      }
    }
    guard !numbers.contains(0) else { throw corrupt("a page has no number") }
  }

  /// Calls a closure with each run of pages that follow each other, and the number of its first page.
  func forEachRun(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
    let head = Self.headSize(numbers.count)
    try encoded.withUnsafeBytes { raw in
      var first = 0
      while first < numbers.count {
        var end = first + 1
        while end < numbers.count, numbers[end] == numbers[end - 1] &+ 1 { end += 1 }
        try body(
          numbers[first],
          .init(rebasing: raw[(head + first * pageSize)..<(head + end * pageSize)]))
        first = end
      }
    }
  }

  /// Calls a closure with each page and its number.
  func forEachPage(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
    let head = Self.headSize(numbers.count)
    try encoded.withUnsafeBytes { raw in
      for (index, number) in numbers.enumerated() {
        let start = head + index * pageSize
        try body(number, .init(rebasing: raw[start..<(start + pageSize)]))
      }
    }
  }
}
