/// Which containers of JSON are open, and whether each is an object: a bit each, the innermost one first.
struct OpenContainers {
  private var bits: UInt64 = 0
  private var depth = 0
  /// Those outside of the innermost 64.
  private var others: [UInt64] = []

  var isEmpty: Bool { depth == 0 }
  var isObject: Bool { bits & 1 == 1 }

  mutating func append(_ isObject: Bool) {
    if depth > 0, depth % 64 == 0 { others.append(bits) }
    bits = bits << 1 | (isObject ? 1 : 0)
    depth += 1
  }

  mutating func removeLast() {
    depth -= 1
    bits >>= 1
    if depth > 0, depth % 64 == 0, let last = others.popLast() { bits = last }
  }
}
