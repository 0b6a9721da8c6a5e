/// Terms by numbers, which are compared faster than texts are.
struct TermNumbers {
  private var numbers: [[UInt8]: Int32] = [:]
  private var terms: [[UInt8]] = []

  mutating func number(of term: [UInt8]) -> Int32 {
    if let known = numbers[term] { return known }
    let number = Int32(terms.count)
    numbers[term] = number
    terms.append(term)
    return number
  }

  func begins(_ number: Int32, with prefix: Int32) -> Bool {
    terms[Int(number)].starts(with: terms[Int(prefix)])
  }
}

/// The terms of a row: for each column, those at each place.
struct ScannedNote {
  let id: Int64
  var columns: [[[Int32]]] = [[], []]
}

/// Terms that have to follow one another.
struct ScannedPhrase {
  var terms: [Int32]
  var isPrefix = false
  /// The text, for what is refused by its length.
  var text: String

  func places(in column: [[Int32]], _ numbers: TermNumbers) -> [Int] {
    guard !terms.isEmpty, column.count >= terms.count else { return [] }
    return (0...(column.count - terms.count)).filter { place in
      terms.indices.allSatisfy { index in
        let found = column[place + index]
        if isPrefix, index == terms.count - 1 {
          return found.contains { numbers.begins($0, with: terms[index]) }
        }
        return found.contains(terms[index])
      }
    }
  }
}

/// What a pattern means, for a scan of all rows.
indirect enum Scan {
  case all([ScannedPhrase]), any([ScannedPhrase])
  case near([ScannedPhrase], Int)
  case column(Int, Scan)
  case and(Scan, Scan), or(Scan, Scan)

  func matches(
    _ note: ScannedNote, _ numbers: TermNumbers, in columns: [Int] = [0, 1]
  ) -> Bool {
    func has(_ phrase: ScannedPhrase) -> Bool {
      columns.contains { !phrase.places(in: note.columns[$0], numbers).isEmpty }
    }
    switch self {
    case .all(let phrases):
      let phrases = phrases.filter { !$0.terms.isEmpty }
      return !phrases.isEmpty && phrases.allSatisfy(has)
    case .any(let phrases): return phrases.contains(where: has)
    case .near(let phrases, let distance):
      let phrases = phrases.filter { !$0.terms.isEmpty }
      return columns.contains { column in
        Self.areNear(
          phrases.map { ($0, $0.places(in: note.columns[column], numbers)) }, distance)
      }
    case .column(let column, let scan):
      return scan.matches(note, numbers, in: columns.filter { $0 == column })
    case .and(let left, let right):
      return left.matches(note, numbers, in: columns) && right.matches(note, numbers, in: columns)
    case .or(let left, let right):
      return left.matches(note, numbers, in: columns) || right.matches(note, numbers, in: columns)
    }
  }

  /// Whether no more than so many terms are between the end of each phrase and the beginning of the last.
  private static func areNear(_ phrases: [(ScannedPhrase, [Int])], _ distance: Int) -> Bool {
    guard !phrases.isEmpty, phrases.allSatisfy({ !$0.1.isEmpty }) else { return false }
    return phrases.map(\.1).joined().contains { last in
      phrases.allSatisfy { phrase, places in
        places.contains { $0 <= last && $0 + phrase.terms.count + distance >= last }
      }
    }
  }

  var phrases: [ScannedPhrase] {
    switch self {
    case .all(let phrases), .any(let phrases), .near(let phrases, _): phrases
    case .column(_, let scan): scan.phrases
    case .and(let left, let right), .or(let left, let right): left.phrases + right.phrases
    }
  }
}
