/// Singular and plural of the last word in a table's name, for a type and for its to-many associations.
///
/// The rules are cautious: a word that isn't known to be a plural stays unchanged.
enum EnglishNoun {
  /// The word in the singular, in its own case.
  static func singular(_ word: String) -> String {
    let small = word.lowercased()
    guard small.utf8.allSatisfy({ $0 < 0x80 }), !unchanged.contains(small), !isAbbreviation(small),
      !irregular.contains(where: { $0.singular == small })
    else { return word }
    if let known = irregular.first(where: { $0.plural == small }) {
      return String(word.prefix(1) + known.singular.dropFirst())
    }
    func ends(_ endings: String...) -> Bool { endings.contains(where: small.hasSuffix) }
    guard small.count > 2, ends("s"), !ends("ss", "us", "is") else { return word }
    if ends("ies"), small.count > 4 { return word.dropLast(3) + "y" }
    if ends("sses", "shes", "ches", "xes", "zzes", "tuses", "ruses", "nuses", "oes") {
      return String(word.dropLast(2))
    }
    return String(word.dropLast())
  }

  static func plural(_ word: String) -> String {
    let small = word.lowercased()
    guard small.utf8.allSatisfy({ $0 < 0x80 }), !unchanged.contains(small), !isAbbreviation(small)
    else { return word }
    if let known = irregular.first(where: { $0.singular == small }) {
      return String(word.prefix(1) + known.plural.dropFirst())
    }
    func ends(_ endings: String...) -> Bool { endings.contains(where: small.hasSuffix) }
    if ends("s", "x", "z", "ch", "sh") { return word + "es" }
    if ends("y"), !ends("ay", "ey", "iy", "oy", "uy") { return word.dropLast() + "ies" }
    return word + "s"
  }

  /// Whether a word is an abbreviation whose last letter is an S, such as `crs` or `dns`.
  private static func isAbbreviation(_ small: String) -> Bool {
    small.count <= 3 && small.hasSuffix("s") && !small.contains { "aeiouy".contains($0) }
  }

  /// Whether a word before another one is surely a plural: not an abbreviation such as `dns`, and not one such
  /// as `sales` that usually stands before a noun.
  static func isPlainPlural(_ word: String) -> Bool {
    let small = word.lowercased()
    return small.utf8.count >= 5 && !modifiers.contains(small) && !small.hasSuffix("ics")
      && singular(small) != small
  }

  private static let modifiers: Set<String> = [
    "always", "communications", "customs", "earnings", "https", "operations", "options", "sales",
    "savings", "settings", "sports", "systems", "windows",
  ]

  /// Plurals that no rule gives.
  private static let irregular: [(singular: String, plural: String)] = [
    ("alias", "aliases"), ("analysis", "analyses"), ("atlas", "atlases"), ("axis", "axes"),
    ("basis", "bases"), ("bus", "buses"),
    ("cache", "caches"), ("canvas", "canvases"), ("child", "children"), ("cookie", "cookies"),
    ("crisis", "crises"), ("diagnosis", "diagnoses"), ("foot", "feet"), ("gas", "gases"),
    ("calf", "calves"), ("elf", "elves"), ("half", "halves"), ("hypothesis", "hypotheses"),
    ("index", "indices"), ("knife", "knives"), ("leaf", "leaves"), ("life", "lives"),
    ("loaf", "loaves"), ("man", "men"), ("matrix", "matrices"), ("mouse", "mice"),
    ("movie", "movies"), ("person", "people"), ("quiz", "quizzes"), ("scarf", "scarves"),
    ("self", "selves"),
    ("shelf", "shelves"), ("shoe", "shoes"),
    ("thief", "thieves"), ("tie", "ties"), ("tooth", "teeth"), ("vertex", "vertices"),
    ("wife", "wives"), ("wolf", "wolves"), ("woman", "women"),
  ]

  /// Words whose singular and plural are the same, or that have no plural.
  private static let unchanged: Set<String> = [
    "aircraft", "criteria", "data", "equipment", "evidence", "feedback", "fish", "goods",
    "information", "media", "metadata", "money", "music", "news", "series", "sms",
    "software", "species", "staff", "stuff",
  ]
}
