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

  /// Whether it is the same: names by their bytes, as JSON has them.
  func isSame(as other: JSONPathStep) -> Bool {
    switch (self, other) {
    case (.name(let name), .name(let other)): name.utf8.elementsEqual(other.utf8)
    case (.element(let index), .element(let other)): index == other
    default: false
    }
  }

  /// Whether both never lead to the same: two names, two elements counted from the same end, or one of each.
  ///
  /// - Parameter moves: whether elements may have other numbers at one time than at another.
  fileprivate func isApart(from other: JSONPathStep, moves: Bool) -> Bool {
    guard !isSame(as: other) else { return false }
    guard case (.element(let index), .element(let other)) = (self, other) else { return true }
    return !moves && (index < 0) == (other < 0)
  }
}

/// A change of JSON at a path.
package struct JSONPathChange: Sendable {
  package enum Kind: Sendable {
    case set
    /// Set where nothing is there, not even null.
    case insert
    case remove
  }

  package let kind: Kind
  package let path: [JSONPathStep]

  /// Whether elements behind it have another number after it.
  var moves: Bool {
    if kind == .remove, case .element? = path.last { true } else { false }
  }
}

extension [JSONPathStep] {
  /// Whether it begins with all of the other.
  func begins(with other: [JSONPathStep]) -> Bool {
    count >= other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }

  /// Whether both never lead to the same, or into each other.
  func isApart(from other: [JSONPathStep], moves: Bool) -> Bool {
    guard let (step, other) = zip(self, other).first(where: { !$0.isSame(as: $1) }) else {
      return false
    }
    return step.isApart(from: other, moves: moves)
  }

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
