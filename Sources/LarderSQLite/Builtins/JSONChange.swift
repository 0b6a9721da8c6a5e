import FoundationEssentials

/// A change of JSON at one path. The text is JSON as a whole, and so is the new value.
struct JSONChange {
  /// The sign before the path of an insertion, which leaves an existing value as it is.
  static let insertion = UInt8(ascii: "?")

  private let scanner: JSONScanner
  private let path: [JSONScanner.Step]
  private let value: JSONScanner?

  /// - Parameter value: the new value; nil to remove the present one.
  init(_ scanner: JSONScanner, _ path: [JSONScanner.Step], _ value: JSONScanner?) {
    self.scanner = scanner
    self.path = path
    self.value = value
  }

  /// The text with the change; nil if nothing changes.
  ///
  /// - Parameter isInsertion: whether an existing value stays, even null.
  func text(_ isInsertion: Bool) throws -> [UInt8]? {
    var start = scanner.byte(behind: 0).at
    for (depth, step) in path.enumerated() {
      if value == nil, depth == path.count - 1 { return try without(step, at: start) }
      guard let next = try scanner.start(of: step, at: start) else {
        return try value.map { try added($0.bytes, path[depth...], at: start) }
      }
      start = next
    }
    guard let value, !isInsertion else { return nil }
    return replaced(try scanner.value(at: start), by: value.bytes)
  }

  private func replaced(_ range: Range<Int>, by bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(scanner.bytes.count - range.count + bytes.count)
    text += scanner.bytes[..<range.lowerBound]
    text += bytes
    text += scanner.bytes[range.upperBound...]
    return text
  }

  /// The text without an element, or without all members of a name, each removed with a comma beside it.
  private func without(_ step: JSONScanner.Step, at start: Int) throws -> [UInt8]? {
    let members = try scanner.members(at: start)
    guard let first = members.first, let last = members.last else { return nil }
    let kept = members.indices.filter { index in
      switch step {
      case .name(let name): members[index].name.map { !scanner.isText(name, in: $0) } ?? true
      case .element(let element):
        first.name != nil || index != (element < 0 ? members.count + element : element)
      }
    }
    guard kept.count < members.count else { return nil }
    var rest: [UInt8] = []
    for index in kept {
      // The comma and space before the member come along, except for the first one.
      let start = rest.isEmpty ? members[index].start : members[index - 1].value.upperBound
      rest += scanner.bytes[start..<members[index].value.upperBound]
    }
    return replaced(first.start..<last.value.upperBound, by: rest)
  }

  /// The text with a value where there was none: missing objects on the path are made, and an element can be
  /// added behind the last one.
  private func added(
    _ value: some Collection<UInt8>, _ steps: ArraySlice<JSONScanner.Step>, at start: Int
  ) throws -> [UInt8] {
    let container = try scanner.value(at: start)
    let type = JSONType(scanner.bytes[start])
    var opening: [UInt8] = []
    for (index, step) in zip(steps.indices, steps) {
      guard case .name(let name) = step else {
        guard index == steps.startIndex else {
          throw refusal("missing arrays on the path aren't created")
        }
        continue
      }
      if index > steps.startIndex || type == .null { opening.append(UInt8(ascii: "{")) }
      opening += String(decoding: name, as: UTF8.self).quotedJSON.utf8
      opening.append(UInt8(ascii: ":"))
    }
    var new = opening + value
    let isNew = type == .null
    if case .element(let index)? = steps.first {
      guard type == .array else { throw refusal("a value of the type \(type) has no elements") }
      guard try scanner.members(at: start).count == index else {
        throw refusal("the array is too short")
      }
    } else if type != .object && !isNew {
      throw refusal("a value of the type \(type) has no members")
    }
    new += repeatElement(UInt8(ascii: "}"), count: steps.count - (isNew ? 0 : 1))
    if isNew { return replaced(container, by: new) }
    let end = container.upperBound - 1
    let isEmpty = scanner.byte(behind: start + 1).at == end
    return replaced(end..<end, by: (isEmpty ? [] : [UInt8(ascii: ",")]) + new)
  }

  private func refusal(_ reason: String) -> JSONRefusal {
    let steps = path.map { step in
      switch step {
      case .name(let name): String(decoding: name, as: UTF8.self).quotedJSON
      case .element(let index): "\(index)"
      }
    }
    let place = "[\(steps.joined(separator: ","))]"
    return JSONRefusal("nothing can be set at \(place) in JSON: \(reason)")
  }
}
