/// A step of a path into JSON, as SQLite [writes them](https://www.sqlite.org/json1.html#path_arguments).
package enum JSONPathStep {
  /// The value with a name, of an object.
  case name(String)
  /// An element of an array, counted from 0.
  case element(Int)
  /// The same counted from the last, which is 0.
  case last(Int)

  /// The steps of a path such as `$.name."other name"[2][#-1]`; nil for one that isn't like that.
  package static func steps(of path: String) -> [JSONPathStep]? {
    let step = /\.(?:([^."\[\]]+)|"([^"]*)")|\[(\d+)\]|\[#-([1-9]\d*)\]/
    guard path.first == "$" else { return nil }
    var rest = path.dropFirst()
    var steps: [JSONPathStep] = []
    while !rest.isEmpty {
      guard let match = rest.prefixMatch(of: step) else { return nil }
      rest = rest[match.range.upperBound...]
      let (_, name, quoted, index, last) = match.output
      if let name = name ?? quoted {
        steps.append(.name(String(name)))
      } else if let index = index.flatMap({ Int($0) }) {
        steps.append(.element(index))
      } else if let last = last.flatMap({ Int($0) }) {
        steps.append(.last(last - 1))
      } else {
        return nil
      }
    }
    return steps
  }
}
