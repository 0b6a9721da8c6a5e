import Larder
import TestSupport

/// What a trial looks at. Of those that everything at random makes, few look at one rule, and others are
/// refused for another reason before it counts.
enum Aim: CaseIterable {
  case generated, places, words, fromRowID, toRowID, withoutRowID, negativeZero, replacedNull, star
  case collation, keyTerms, conflicts, computed, check, dependents, foreignKey, changedKey, cascade
  case updateOf, sequence, triggers, index, rows, types
  case anything

  /// Trials that follow one another look at everything in turn, and at what has many forms more often.
  /// (Of ten seeds one has no trial: a number without a divisor in common leaves none out.)
  private static let turns: [Aim] =
    Self.allCases + [.types, .types, .places, .dependents]
    + Array(repeating: .anything, count: 8)

  init(seed: UInt64) {
    self = Self.turns[Int(seed % UInt64(Self.turns.count))]
  }

  /// Which of its forms has its turn.
  static func form<T>(_ seed: UInt64, of forms: [T]) -> T {
    let count = UInt64(turns.count)
    return forms[Int((seed / count &+ seed % count) % UInt64(forms.count))]
  }
}

extension ChangePlan {
  /// A table that nothing is said of, but for the names of its columns.
  private static func simple(_ random: inout SeededGenerator) -> RandomTable {
    var table = RandomTable(&random)
    table.key = .rowID
    table.isStrict = false
    table.columns = ["id", "a", "b", "c", "d"].map { .init(name: $0, type: "") }
    return table
  }

  /// Has a trial look at one thing, and at nothing else.
  mutating func turn(to aim: Aim, _ random: inout SeededGenerator) {
    func form<T>(_ forms: [T]) -> T { Aim.form(seed, of: forms) }
    guard aim != .anything else { return }
    old = Self.simple(&random)
    new = old
    rowCount = max(rowCount, 2)
    losing = []
    dependents = []
    switch aim {
    case .anything: break
    case .collation, .keyTerms, .conflicts, .computed, .check: differ(in: aim, &random)
    case .dependents:
      let dependent = form([
        Dependent.star, .trigger, .temporaryTrigger, .ownTrigger, .temporaryView,
      ])
      loseColumn(dependent == .temporaryView ? 1 : Int.random(in: 1...4, using: &random), dependent)
    case .updateOf: loseColumn(4, .updateOf)
    case .places:
      let dependent = form([Dependent.trigger, .temporaryTrigger, .ownTrigger, .ownTrigger])
      movePlaces(dependent, &random)
    case .triggers, .index, .star: turn(toCompany: aim, &random)
    case .foreignKey, .changedKey, .cascade: turn(toKeys: aim, &random)
    case .fromRowID, .toRowID, .withoutRowID, .sequence: turn(toRowIDs: aim, &random)
    case .generated: new.compute(Int.random(in: 1...4, using: &random))
    case .words: turn(toWords: &random)
    case .negativeZero:
      firstValues = [.real(-0.0)]
      new.columns[1].type = random.pick(["REAL", "NUMERIC", "INT", "TEXT", "DOUBLE"])
    case .types:
      let (type, value): (String, DatabaseValue) = form([
        ("TEXT", .real(0.1 + 0.2)), ("INT", .text("007")), ("REAL", .text("1e3")),
        ("DOUBLE", .integer(9_007_199_254_740_993)), ("NUMERIC", .text("12345678901234567890")),
      ])
      new.columns[1].type = type
      firstValues = [value]
    case .rows:
      // The table takes the row without a word, and leaves it out.
      new.columns[1].constraint = form([
        "NOT NULL ON CONFLICT IGNORE", "UNIQUE ON CONFLICT REPLACE",
      ])
      rowCount = 6
      firstValues = [.null]
    case .replacedNull:
      firstValues = [.null]
      new.columns[1].constraint = "NOT NULL ON CONFLICT REPLACE DEFAULT 7"
    }
  }

  /// One difference, in whichever direction.
  private mutating func differ(in aim: Aim, _ random: inout SeededGenerator) {
    switch aim {
    case .collation: new.columns[2].constraint = "COLLATE NOCASE"
    case .keyTerms:
      if random.chance(30) {
        (old.key, new.key) = (.binaryText, .textKey)
      } else {
        let choices = [
          ["UNIQUE (a, b)", "UNIQUE (a, b DESC)"],
          ["UNIQUE (a, b)", "UNIQUE (a COLLATE NOCASE, b)"],
        ]
        let pair = random.pick(choices)
        (old.constraints, new.constraints) = ([pair[0]], [pair[1]])
      }
    case .conflicts:
      new.constraints = ["UNIQUE (a, b) ON CONFLICT \(random.pick(["IGNORE", "REPLACE"]))"]
      old.constraints = ["UNIQUE (a, b)"]
    case .computed:
      old.compute(2)
      new.compute(2, as: "id || '?'")
    default: new.columns[1].constraint = "CHECK (t.id IS NOT 'never')"
    }
    if random.chance(50) { swap(&old, &new) }
  }

  /// A column goes that something depends on. Only a table without rows lets it go unasked.
  private mutating func loseColumn(_ index: Int, _ dependent: Dependent) {
    dependents = [dependent]
    rowCount = 0
    new.columns.remove(at: index)
  }

  /// A column that was computed is written, and another isn't any more: those between them move, for
  /// those that count what is written.
  private mutating func movePlaces(_ dependent: Dependent, _ random: inout SeededGenerator) {
    dependents = [dependent]
    rowCount = 0
    let places = random.pick([[1, 3], [1, 4], [2, 4], [3, 1], [4, 1], [4, 2]])
    old.compute(places[0])
    new.compute(places[1])
  }

  /// What else there is stays as it is.
  private mutating func turn(toCompany aim: Aim, _ random: inout SeededGenerator) {
    isHarmless = true
    new.columns[1].constraint = "CHECK (t.id IS NOT 'never')"
    switch aim {
    case .triggers: dependents = [.ownTrigger, .ownTemporaryTrigger]
    case .index: (dependents, way) = ([.index], .rebuild)
    default:
      dependents = [.star]
      new.columns.shuffle(using: &random)
    }
  }

  private mutating func turn(toKeys aim: Aim, _ random: inout SeededGenerator) {
    switch aim {
    case .foreignKey:
      dependents = [.parent]
      new.columns[1].constraint = "REFERENCES parent (k)"
      firstValues = [.text("nobody's")]
    case .changedKey:
      dependents = [.child]
      way = .rebuild
      losing = [.rowIDs]
      copying["id"] = CopiedValue("id + 1000", reading: ["id"]) { row in
        guard case .integer(let id) = row["id"] else { return .null }
        return .integer(id + 1000)
      }
    default:
      dependents = [.child]
      way = .transaction
      new.columns[1].constraint = "CHECK (t.id IS NOT 'never')"
    }
  }

  private mutating func turn(toRowIDs aim: Aim, _ random: inout SeededGenerator) {
    switch aim {
    case .fromRowID:
      dependents = [.search]
      old.key = random.pick([.rowID, .autoincrement, .tableDescending])
      new.key = random.pick([.none, .descending, .int, .text])
    case .toRowID:
      old.key = random.pick([.none, .descending, .int])
      new.key = random.pick([.rowID, .autoincrement])
      way = .rebuild
      if random.chance(40) { (losing, firstKey) = ([.rowIDs], .null) }
    case .withoutRowID:
      dependents = [.search]
      new.key = .withoutRowID
    default:
      (old.key, new.key) = (.autoincrement, .autoincrement)
      new.columns[1].constraint = "CHECK (t.id IS NOT 'never')"
      isHarmless = true
    }
  }

  /// A column is lost, and a word of an expression is its name.
  private mutating func turn(toWords random: inout SeededGenerator) {
    way = .rebuild
    let name = random.pick(["typeof", "d"])
    old.columns[4].name = name
    new.columns[4].name = name
    let reads = random.chance(30)
    new.columns.remove(at: 4)
    if reads {
      copying["a"] = CopiedValue("ifnull(\"\(name)\", 'none')", reading: [name]) { row in
        row[name] == .null ? .text("none") : row[name] ?? .null
      }
    } else if name == "d" {
      copying["a"] = CopiedValue("(SELECT d FROM other)", reading: []) { _ in .text("elsewhere") }
    } else {
      copying["a"] = CopiedValue("typeof(b)", reading: ["b"]) { .text($0["b"]?.typeName ?? "") }
    }
    // What an expression takes the place of is lost else.
    losing = random.chance(50) ? [] : [.rowIDs]
  }
}
