import LarderSQLite

/// A step of a path into JSON.
package enum JSONPathStep: Sendable {
  /// The value of an object with this name.
  case name(String)
  /// An element of an array, counted from 0, or from the end if negative: -1 is the last one.
  case element(Int)

  /// The name, or the number.
  package var text: String {
    switch self {
    case .name(let name): name
    case .element(let index): "\(index)"
    }
  }

  /// Whether both steps are the same. Names are compared by their bytes, as in JSON.
  func isSame(as other: JSONPathStep) -> Bool {
    switch (self, other) {
    case (.name(let name), .name(let other)): name.utf8.elementsEqual(other.utf8)
    case (.element(let index), .element(let other)): index == other
    default: false
    }
  }

  /// Whether both steps never lead to the same value: two names, two elements
  /// counted from the same end, or one of each.
  ///
  /// - Parameter moves: whether elements may get other numbers in between.
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
    /// Sets the value if nothing is there, not even null.
    case insert
    case remove
  }

  package let kind: Kind
  package let path: [JSONPathStep]

  /// Whether the change renumbers the elements behind it.
  var moves: Bool {
    if kind == .remove, case .element? = path.last { true } else { false }
  }
}

extension [JSONPathStep] {
  /// Whether the path begins with the whole other path.
  func begins(with other: [JSONPathStep]) -> Bool {
    count >= other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }

  /// Whether both paths never lead to the same value, nor one into the other's.
  func isApart(from other: [JSONPathStep], moves: Bool) -> Bool {
    guard let (step, other) = zip(self, other).first(where: { !$0.isSame(as: $1) }) else {
      return false
    }
    return step.isApart(from: other, moves: moves)
  }

  /// The path as a JSON array, which the functions for SQLite take.
  var json: String {
    let steps = map { step in
      switch step {
      case .name(let name): name.quotedJSON
      case .element(let index): "\(index)"
      }
    }
    return "[\(steps.joined(separator: ","))]"
  }
}
