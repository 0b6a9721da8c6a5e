/// The terms of a row: for each column, those at each place.
struct ScannedNote {
  var columns: [[Set<[UInt8]>]] = [[], []]
}

/// Terms that have to follow one another.
struct ScannedPhrase {
  var terms: [[UInt8]]
  var isPrefix = false
  /// The text, for what is refused by its length.
  var text: String

  func places(in column: [Set<[UInt8]>]) -> [Int] {
    guard !terms.isEmpty, column.count >= terms.count else { return [] }
    return (0...(column.count - terms.count)).filter { place in
      terms.indices.allSatisfy { index in
        let found = column[place + index]
        if isPrefix, index == terms.count - 1 {
          return found.contains { $0.starts(with: terms[index]) }
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

  func matches(_ note: ScannedNote, in columns: [Int] = [0, 1]) -> Bool {
    func has(_ phrase: ScannedPhrase) -> Bool {
      columns.contains { !phrase.places(in: note.columns[$0]).isEmpty }
    }
    switch self {
    case .all(let phrases):
      let phrases = phrases.filter { !$0.terms.isEmpty }
      return !phrases.isEmpty && phrases.allSatisfy(has)
    case .any(let phrases): return phrases.contains(where: has)
    case .near(let phrases, let distance):
      let phrases = phrases.filter { !$0.terms.isEmpty }
      return columns.contains { Self.areNear(phrases, distance, note.columns[$0]) }
    case .column(let column, let scan):
      return scan.matches(note, in: columns.filter { $0 == column })
    case .and(let left, let right):
      return left.matches(note, in: columns) && right.matches(note, in: columns)
    case .or(let left, let right):
      return left.matches(note, in: columns) || right.matches(note, in: columns)
    }
  }

  /// Whether no more than so many terms are between the end of each phrase and the beginning of the last.
  private static func areNear(
    _ phrases: [ScannedPhrase], _ distance: Int, _ column: [Set<[UInt8]>]
  ) -> Bool {
    let places = phrases.map { $0.places(in: column) }
    guard !places.isEmpty, places.allSatisfy({ !$0.isEmpty }) else { return false }
    return places.joined().contains { last in
      zip(phrases, places).allSatisfy { phrase, places in
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
