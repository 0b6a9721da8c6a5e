import Larder
import LarderTerminal

/// Guesses the Swift type of a column by its declared type and its values. A single value that doesn't fit
/// rules a guess out.
struct StorageGuess {
  private(set) var storage: PropertyStorage
  /// Comments with the evidence, if the declared type alone doesn't determine the guess.
  private(set) var notes: [String] = []

  private let column: ColumnSchema
  private let evidence: ColumnEvidence

  /// - Parameters:
  ///   - isKey: whether the column is the rowid.
  ///   - isStrict: whether the declared types are enforced.
  ///   - isView: whether the column is a view's; most of those have no declared type.
  init(
    _ column: ColumnSchema, _ evidence: ColumnEvidence, isKey: Bool, isStrict: Bool, isView: Bool
  ) {
    self.column = column
    self.evidence = evidence
    let declared = Self.declared(column.type, isStrict: isStrict)
    storage = declared ?? .any
    if storage == .decimal, column.primaryKeyPosition > 0, evidence.areAll(.integer) {
      storage = .integer
    }
    guard !isKey else {
      storage = .key
      return
    }
    let takesAny = isStrict && column.type.uppercased() == "ANY"
    if declared == nil || !storage.fits(evidence), !takesAny {
      storage = Self.stored(evidence) ?? .any
      noteStored(isDeclared: declared != nil, isView: isView)
    }
    if evidence.hasBrokenText { notes.append("Some text isn't UTF-8: reading such a row throws.") }
    refine(declaredWords: column.type.uppercased())
  }

  /// The storage by the declared type alone; nil if that doesn't determine it.
  private static func declared(_ type: String, isStrict: Bool) -> PropertyStorage? {
    let type = type.uppercased()
    func has(_ words: String...) -> Bool { words.contains(where: type.contains) }
    switch ColumnAffinity(type: type, isStrict: isStrict) {
    case .text: return .text
    case .real: return .real
    case .none: return type.contains("BLOB") ? .blob : nil
    case .numeric:
      if has("INT", "BOOL", "BIT", "YEAR") { return .integer }
      // These types have NUMERIC affinity, but usually hold text.
      if has("DATE", "TIME", "STRING", "UUID", "GUID", "JSON") { return .text }
      guard has("NUM", "DEC", "MONEY", "CURRENCY") else { return nil }
      // A number of digits without a scale means whole numbers.
      return type.contains(/\(\s*[0-9]+\s*(?:,\s*0\s*)?\)/) ? .integer : .decimal
    }
  }

  /// The storage that fits all values; nil if there are none, or of several classes.
  private static func stored(_ evidence: ColumnEvidence) -> PropertyStorage? {
    [PropertyStorage.integer, .real, .text, .blob].first {
      evidence.values > 0 && $0.fits(evidence)
    }
  }

  private mutating func noteStored(isDeclared: Bool, isView: Bool) {
    let declared =
      column.type.isEmpty ? "It has no declared type" : "It is declared \(column.type.commented)"
    if storage == .any {
      if evidence.values > 0 {
        notes.append("\(declared), and holds \(classes.many): a value of any kind.")
      } else if !isView {
        notes.append("\(declared), and holds no values that show its type: a value of any kind.")
      }
    } else if !isView || isDeclared {
      let kind = classes
      notes.append("Guessed: \(declared.lowercasedFirst), and \(told(kind.one, kind.many)).")
    }
  }

  /// The storage classes of the values in words.
  private var classes: (one: String, many: String) {
    let names: [(StorageClass, one: String, many: String)] = [
      (.integer, "an integer", "integers"), (.real, "a real number", "real numbers"),
      (.text, "text", "text"), (.blob, "a blob", "blobs"),
    ]
    let found = names.filter { evidence.storageClasses.contains($0.0) }
    return (
      found.map(\.one).joined(separator: " and "), found.map(\.many).joined(separator: " and ")
    )
  }

  /// The sentence about the values that support a guess.
  private func told(_ one: String, _ many: String) -> String {
    evidence.values == 1
      ? "its only value is \(one)" : "all \(evidence.values.grouped) values looked at are \(many)"
  }

  // MARK: Codings

  private mutating func refine(declaredWords type: String) {
    let words = SwiftName.words(of: column.name).map { $0.lowercased() }
    switch storage {
    case .integer: guessBool(words, type)
    case .real where evidence.values > 0 && evidence.areRecentSeconds:
      // Real numbers of this size are hardly anything else in a column with the name of a date.
      guard words.count > 1, words.last.map(Self.moments.contains) ?? false else { break }
      take(
        PropertyStorage(type: "Date", columnType: .real),
        told(
          "seconds since 1970, as Larder stores dates", "seconds since 1970, as Larder stores dates"
        ))
    case .text: guessText(type)
    case .blob:
      let isNamed =
        words.contains { ["uuid", "guid"].contains($0) } || type.contains("UUID")
        || type.contains("GUID")
      if evidence.values > 0,
        evidence.uuids.areBlobs(isNamed: isNamed, values: evidence.values)
      {
        take(
          PropertyStorage(type: "UUID", columnType: .blob),
          told("16 bytes, as a UUID", "16 bytes, as UUIDs"))
      }
    default: break
    }
  }

  private mutating func take(_ storage: PropertyStorage, _ reason: String) {
    self.storage = storage
    notes.append("Guessed: \(reason).")
  }

  /// The first words of the names of Boolean columns; `states` are last words.
  private static let questions: Set<String> = [
    "allow", "allows", "are", "can", "did", "does", "enable", "had", "has", "have", "is", "may",
    "must", "needs", "should", "was", "were", "will",
  ]
  private static let states: Set<String> = [
    "active", "archived", "completed", "deleted", "disabled", "discontinued", "done", "enabled",
    "flag", "hidden", "locked", "published", "verified", "visible",
  ]

  /// The last words of the names of columns with dates.
  private static let moments: Set<String> = ["at", "date", "since", "until"]

  private mutating func guessBool(_ words: [String], _ type: String) {
    let isDeclared = type.contains("BOOL") || type == "BIT"
    // Without a value, all are bits.
    guard evidence.areBits else { return }
    if isDeclared { return storage = .bool }
    let isQuestion = words.count > 1 && Self.questions.contains(words[0])
    let isState = words.last.map(Self.states.contains) ?? false
    if evidence.values > 0, isQuestion || isState { take(.bool, told("0 or 1", "0 or 1")) }
  }

  private mutating func guessText(_ type: String) {
    guard evidence.values > 0 else { return guessDefault(type) }
    if let storage = evidence.dates.storage {
      let pattern = evidence.dates.pattern
      take(storage, told("text as \(pattern)", "texts as \(pattern)"))
    } else if evidence.dates.areDays {
      notes.append(evidence.dates.reasonAgainstDates)
    } else if let coding = evidence.uuids.textCoding {
      let letters = coding == ".text" ? "capital" : "small"
      take(
        PropertyStorage(type: "UUID", coding: coding, columnType: .text),
        told("a UUID in \(letters) letters", "UUIDs in \(letters) letters"))
    } else if let json = evidence.json.type(declared: type) {
      let isArray = type.hasSuffix("[]") && json.hasPrefix("[") && !json.contains(":")
      take(
        PropertyStorage(type: json, coding: isArray ? ".array" : ".json", columnType: .text),
        told("JSON", "JSON"))
    }
  }

  /// Guesses by the default, if there is no value yet.
  private mutating func guessDefault(_ type: String) {
    let formats: [String: DateFormat] = [
      "current_timestamp": .sqlDateTime, "current_date": .sqlDate,
    ]
    if let format = (column.default?.lowercased()).flatMap({ formats[$0] }) {
      take(.date(format), "by its default, as there is no value yet")
    } else if type.contains("DATE") || type.contains("TIME") {
      notes.append("No value shows its format yet: for a Date, add as: .format(…).")
    }
  }
}

extension String {
  /// The text in a form that can be in a one-line comment.
  var commented: String {
    let line = String(unicodeScalars.map { $0.isInvisible ? " " : Character($0) })
    return line.count > 200 ? line.prefix(200) + "…" : line
  }

  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
