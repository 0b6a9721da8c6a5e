/// Finds values in JSON text, as [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) defines it, and leaves
/// them as they are written: numbers with all their digits, texts with NUL.
///
/// SQLite's own functions (3.40) get the last bit of one real number in 300 wrong, end a text at its first
/// NUL, and don't find a name that is written with an escape.
///
/// Safety: the caller that makes a scanner keeps the bytes as long as it is in use.
package struct JSONScanner {
  /// The error for text that isn't JSON.
  package struct Malformed: Error {}

  /// A step of a path: to an object's member by its name, or to an array's element by its index. A negative
  /// index counts from the end.
  enum Step {
    case name([UInt8])
    case element(Int)
  }

  /// A member of an object, or an element of an array.
  package struct Member {
    /// The name with its quotes; nil in an array.
    package let name: Range<Int>?
    package let value: Range<Int>
    /// The offset at which the member begins, including its name.
    var start: Int { name?.lowerBound ?? value.lowerBound }
  }

  let bytes: LentBytes
  private var position: Int

  package init(_ bytes: LentBytes, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  /// A scanner of the text of an argument, to which SQLite converts other values; of none for NULL.
  init(of argument: FunctionArgument) {
    self.init(argument.text ?? .none)
  }

  /// Calls a closure with a scanner of these bytes.
  static func scanning<T>(_ bytes: [UInt8], _ body: (JSONScanner) throws -> T) rethrows -> T {
    try bytes.withUnsafeBufferPointer { try body(JSONScanner($0)) }
  }

  func isSame(as text: [UInt8]) -> Bool { text.withUnsafeBufferPointer { bytes.isSame(as: $0) } }

  /// The range of the only value of the whole text.
  package static func value(of bytes: LentBytes) throws(Malformed) -> Range<Int> {
    try JSONScanner(bytes).find([]) ?? 0..<0
  }

  func checkWhole() throws(Malformed) { _ = try find([]) }

  /// The range of the value to which a path leads; nil if it leads nowhere. The text has to be JSON as a
  /// whole, and is read once.
  func find(_ path: [Step]) throws(Malformed) -> Range<Int>? {
    var scanner = JSONScanner(bytes)
    var open = OpenContainers()
    var found: Range<Int>?
    var depth = 0
    while depth < path.count, try scanner.enter(path[depth], &open) { depth += 1 }
    if depth == path.count { found = try scanner.value() }
    try scanner.finish(&open)
    scanner.skipSpace()
    guard scanner.position == bytes.count else { throw Malformed() }
    return found
  }

  /// Moves to the value to which a step leads and returns true. Skips the whole current value and returns
  /// false if the step leads nowhere.
  private mutating func enter(_ step: Step, _ open: inout OpenContainers) throws(Malformed) -> Bool
  {
    skipSpace()
    let isObject = byte == UInt8(ascii: "{")
    var left = 0
    switch step {
    case .name where isObject: break
    case .element(let index) where byte == UInt8(ascii: "["):
      // A negative index counts from the end, so the elements are counted first.
      left = index < 0 ? try members(at: position).count + index : index
    default: left = -1
    }
    guard left >= 0 else {
      _ = try value()
      return false
    }
    position += 1
    skipSpace()
    if isAtEnd(of: isObject) {
      position += 1
      return false
    }
    open.append(isObject)
    while true {
      if case .name(let name) = step {
        let found = try self.name()
        if isText(name, in: found) { return true }
      } else if left == 0 {
        return true
      }
      _ = try value()
      skipSpace()
      left -= 1
      let isEnd = isAtEnd(of: isObject)
      guard isEnd || byte == UInt8(ascii: ",") else { throw Malformed() }
      position += 1
      guard isEnd else { continue }
      open.removeLast()
      return false
    }
  }

  func value(at position: Int) throws(Malformed) -> Range<Int> {
    var scanner = JSONScanner(bytes, at: position)
    return try scanner.value()
  }

  /// The offset of the value to which a step leads from the value at `start`; nil if there is none. Nothing
  /// after it is read, so that a path of many steps reads the text once.
  func start(of step: Step, at start: Int) throws(Malformed) -> Int? {
    var scanner = JSONScanner(bytes, at: start)
    var open = OpenContainers()
    guard try scanner.enter(step, &open) else { return nil }
    scanner.skipSpace()
    return scanner.position
  }

  func part(_ range: Range<Int>) -> LentBytes {
    LentBytes(rebasing: bytes[range])
  }

  /// The text in a range, as it is written.
  func source(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The first byte that isn't white space from a position on, and its offset; the byte is 0 at the end.
  func byte(behind position: Int) -> (at: Int, byte: UInt8) {
    var scanner = JSONScanner(bytes, at: position)
    scanner.skipSpace()
    return (scanner.position, scanner.byte)
  }

  /// The members of the object or array that begins at a position; none if another kind of value begins
  /// there.
  package func members(at start: Int) throws(Malformed) -> [Member] {
    var scanner = JSONScanner(bytes, at: start)
    let isObject = scanner.byte == UInt8(ascii: "{")
    guard isObject || scanner.byte == UInt8(ascii: "[") else { return [] }
    var members: [Member] = []
    while true {
      scanner.position += 1
      scanner.skipSpace()
      if members.isEmpty, scanner.isAtEnd(of: isObject) { return members }
      let name = isObject ? try scanner.name() : nil
      members.append(Member(name: name, value: try scanner.value()))
      scanner.skipSpace()
      if scanner.isAtEnd(of: isObject) { return members }
      guard scanner.byte == UInt8(ascii: ",") else { throw Malformed() }
    }
  }

  /// The unescaped bytes of the string in a range, which includes its quotes; nil for half a surrogate pair.
  package func text(in range: Range<Int>) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var index = range.lowerBound + 1
    while index < range.upperBound - 1 {
      guard bytes[index] == UInt8(ascii: "\\") else {
        text.append(bytes[index])
        index += 1
        continue
      }
      index += 2
      switch bytes[index - 1] {
      case UInt8(ascii: "b"): text.append(8)
      case UInt8(ascii: "f"): text.append(12)
      case UInt8(ascii: "n"): text.append(10)
      case UInt8(ascii: "r"): text.append(13)
      case UInt8(ascii: "t"): text.append(9)
      case UInt8(ascii: "u"):
        var code = hexadecimal(at: index)
        index += 4
        if 0xDC00..<0xE000 ~= code { return nil }
        if 0xD800..<0xDC00 ~= code {
          guard index + 6 < range.upperBound, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
          else { return nil }
          let low = hexadecimal(at: index + 2)
          guard 0xDC00..<0xE000 ~= low else { return nil }
          code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
          index += 6
        }
        guard let scalar = Unicode.Scalar(code) else { return nil }
        text += String(scalar).utf8
      case let character: text.append(character)
      }
    }
    return text
  }

  /// Whether the string in a range, which includes its quotes, is this text.
  func isText(_ text: [UInt8], in range: Range<Int>) -> Bool {
    let inside = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
    // An escape is longer than the character that it stands for.
    guard inside.count >= text.count else { return false }
    if inside.count == text.count {
      return inside.elementsEqual(text) && !text.contains(UInt8(ascii: "\\"))
    }
    return inside.contains(UInt8(ascii: "\\")) && self.text(in: range) == text
  }

  private func hexadecimal(at index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 4 | UInt32(bytes[index + $1].hexadecimalDigit ?? 0) }
  }

  // MARK: Grammar

  @inline(__always)
  private var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

  @inline(__always)
  private func isAtEnd(of isObject: Bool) -> Bool {
    byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
  }

  @inline(__always)
  private mutating func skipSpace() {
    while byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  /// Skips a value of any depth, and returns its range.
  private mutating func value() throws(Malformed) -> Range<Int> {
    skipSpace()
    let start = position
    var open = OpenContainers()
    try self.open(&open)
    try finish(&open)
    return start..<position
  }

  /// Skips a scalar or an empty container. Enters any other container, down to its first scalar or empty
  /// container.
  @inline(__always)
  private mutating func open(_ open: inout OpenContainers) throws(Malformed) {
    while true {
      skipSpace()
      let isObject = byte == UInt8(ascii: "{")
      guard isObject || byte == UInt8(ascii: "[") else { return try scalar() }
      position += 1
      skipSpace()
      if isAtEnd(of: isObject) {
        position += 1
        return
      }
      open.append(isObject)
      if isObject { _ = try name() }
    }
  }

  /// Continues after a value until all open containers are closed. It isn't recursive, since text from
  /// outside may be nested deeply.
  private mutating func finish(_ open: inout OpenContainers) throws(Malformed) {
    while !open.isEmpty {
      skipSpace()
      let isObject = open.isObject
      let isEnd = isAtEnd(of: isObject)
      guard isEnd || byte == UInt8(ascii: ",") else { throw Malformed() }
      position += 1
      if isEnd {
        open.removeLast()
      } else {
        if isObject { _ = try name() }
        try self.open(&open)
      }
    }
  }

  /// Skips a name and the colon after it. Returns the name's range.
  private mutating func name() throws(Malformed) -> Range<Int> {
    skipSpace()
    let start = position
    try string()
    let end = position
    skipSpace()
    guard byte == UInt8(ascii: ":") else { throw Malformed() }
    position += 1
    return start..<end
  }

  private mutating func scalar() throws(Malformed) {
    switch byte {
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func word(_ word: StaticString) throws(Malformed) {
    for index in 0..<word.utf8CodeUnitCount {
      guard byte == word.utf8Start[index] else { throw Malformed() }
      position += 1
    }
  }

  private mutating func string() throws(Malformed) {
    guard byte == UInt8(ascii: "\"") else { throw Malformed() }
    position += 1
    while true {
      let byte = byte
      position += 1
      if byte == UInt8(ascii: "\"") { return }
      guard byte >= 0x20 else { throw Malformed() }
      if byte == UInt8(ascii: "\\") {
        try escape()
      } else if byte >= 0x80 {
        try character(byte)
      }
    }
  }

  private mutating func escape() throws(Malformed) {
    switch byte {
    case UInt8(ascii: "u"):
      for _ in 0..<4 {
        position += 1
        guard byte.hexadecimalDigit != nil else { throw Malformed() }
      }
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      break
    default: throw Malformed()
    }
    position += 1
  }

  /// Skips the continuation bytes of a UTF-8 character, as
  /// [RFC 3629](https://www.rfc-editor.org/rfc/rfc3629#section-4) defines them.
  private mutating func character(_ first: UInt8) throws(Malformed) {
    let count =
      switch first {
      case 0xC2...0xDF: 1
      case 0xE0...0xEF: 2
      case 0xF0...0xF4: 3
      default: throw Malformed()
      }
    // The second byte rules out overlong forms, surrogates, and code points past the last one.
    let isSecond =
      switch first {
      case 0xE0: byte >= 0xA0
      case 0xED: byte < 0xA0
      case 0xF0: byte >= 0x90
      case 0xF4: byte < 0x90
      default: true
      }
    guard isSecond else { throw Malformed() }
    for _ in 0..<count {
      guard byte & 0xC0 == 0x80 else { throw Malformed() }
      position += 1
    }
  }

  private mutating func number() throws(Malformed) {
    if byte == UInt8(ascii: "-") { position += 1 }
    if byte == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if byte == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    guard byte | 0x20 == UInt8(ascii: "e") else { return }
    position += 1
    if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
    try digits()
  }

  private mutating func digits() throws(Malformed) {
    let start = position
    while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    if position == start { throw Malformed() }
  }
}

extension UInt8 {
  package var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
