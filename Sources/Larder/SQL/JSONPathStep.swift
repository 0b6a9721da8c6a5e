import LarderSQLite

/// A step of a path into JSON.
package enum JSONPathStep: Sendable {
  /// The value with a name, of an object.
  case name(String)
  /// An element of an array, counted from 0; from the last one, which is -1, where it is negative.
  case element(Int)

  /// The name, or the number.
  package var text: String {
    switch self {
    case .name(let name): name
    case .element(let index): "\(index)"
    }
  }
}

extension [JSONPathStep] {
  /// The path as an array of JSON, which the functions for SQLite take.
  var json: String {
    let steps = map { step in
      switch step {
      case .name(let name): name.quotedJSON
      case .element(let index): "\(index)"
      }
    }
    return "[\(steps.joined(separator: ","))]"
  }

  /// The path in the language of the SQL standard, which finds only what is of the type that each step asks for.
  package var standardPath: String {
    let steps = map { step in
      switch step {
      case .name(let name): ".\(name.quotedJSON)"
      case .element(let index): index < 0 ? "[last - \(index.magnitude - 1)]" : "[\(index)]"
      }
    }
    return "strict $\(steps.joined())"
  }
}
