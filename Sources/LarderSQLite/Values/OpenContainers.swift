/// The stack of open JSON containers, one bit each: 1 for an object, 0 for an array. The innermost is the
/// lowest bit.
struct OpenContainers {
  private var bits: UInt64 = 0
  private var depth = 0
  /// The bits of containers outside of those in `bits`, in words of 64.
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
