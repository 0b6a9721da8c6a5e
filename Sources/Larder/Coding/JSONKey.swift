/// A member's name, or an element's index.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String, intValue: Int?) {
    self.stringValue = stringValue
    self.intValue = intValue
  }

  init(stringValue: String) { self.init(stringValue: stringValue, intValue: nil) }
  init(intValue: Int) { self.init(stringValue: "Index \(intValue)", intValue: intValue) }
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
  func path(to index: Int) -> [any CodingKey] {
    guard index > 0 else { return [] }
    var (path, container): ([any CodingKey], Int) = ([], 0)
    while container != index {
      let isObject = kind(container) == .object
      guard isObject || kind(container) == .array else { return path }
      var (place, number) = (container + 1, 0)
      while place < Int(tape.entries[container].end) {
        let value = isObject ? place + 1 : place
        let next = tape.next(value)
        if index < next {
          let name = isObject ? try? string(place) : nil
          path.append(
            JSONKey(stringValue: name ?? "Index \(number)", intValue: isObject ? nil : number))
          container = value
          break
        }
        (place, number) = (next, number + 1)
      }
      if index < container { return path }
    }
    return path
  }
}
