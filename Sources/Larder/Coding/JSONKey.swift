/// A member's name, or an element's index.
struct JSONKey: CodingKey {
  private let name: String?
  let intValue: Int?

  init(stringValue: String) { (name, intValue) = (stringValue, nil) }
  init(intValue: Int) { (name, self.intValue) = (nil, intValue) }

  // Most errors of a type that tries one kind of value after the other are never looked at.
  var stringValue: String { name ?? "Index \(intValue ?? 0)" }
}

/// An element or member of a container, on the way to an entry.
struct JSONStep {
  let container: Int
  /// The entry of the element, or of the member's name.
  var place: Int
  /// How many are before it.
  var number = 0
}

/// Ends the reading of a text that is left to Foundation.
struct JSONMismatch: Error {}

extension JSONValueReader {
  func uncertain() -> any Error {
    isUncertain = true
    return JSONMismatch()
  }

  /// The error for a value of another type than the one asked for, as Foundation throws it.
  func mismatch(_ type: any Any.Type, _ index: Int) -> any Error {
    let context = DecodingError.Context(codingPath: path(to: index), debugDescription: "")
    return isNull(index)
      ? DecodingError.valueNotFound(type, context) : DecodingError.typeMismatch(type, context)
  }

  /// Keys and indexes from the top-level value to an entry.
  ///
  /// It goes on where the last one led. A text of which paths are asked for in another order than its own is left to
  /// Foundation once they have taken long. What is left to Foundation is thrown away, and its paths with it.
  func path(to index: Int) -> [any CodingKey] {
    var (path, container, depth): ([any CodingKey], Int, Int) = ([], 0, 0)
    guard index > 0, !isUncertain else { return path }
    while container != index {
      let isObject = kind(container) == .object
      guard isObject || kind(container) == .array else { return path }
      var step = JSONStep(container: container, place: container + 1)
      if depth < trail.count, trail[depth].container == container, trail[depth].place <= index {
        step = trail[depth]
      }
      let end = Int(tape.entries[container].end)
      while step.place < end {
        stepsLeft -= 1
        let next = tape.next(isObject ? step.place + 1 : step.place)
        if index < next { break }
        (step.place, step.number) = (next, step.number + 1)
      }
      if stepsLeft < 0 { isUncertain = true }
      guard step.place < end, !isUncertain else { return path }
      if depth < trail.count { trail[depth] = step } else { trail.append(step) }
      if isObject {
        path.append(JSONKey(stringValue: (try? string(step.place)) ?? ""))
        container = step.place + 1
      } else {
        path.append(JSONKey(intValue: step.number))
        container = step.place
      }
      if index < container { return path }
      depth += 1
    }
    return path
  }
}
