/// Names as they are written, with or without backticks.
enum Identifier {
  static func plain(_ name: String) -> String {
    name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name
  }

  static func isSame(_ one: String, _ other: String) -> Bool { plain(one) == plain(other) }

  /// The name as the label of an argument, which may be a keyword; the compiler warns of backticks there.
  static func label(_ name: String) -> String {
    let plain = plain(name)
    let isWord = plain.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 32)
    }
    return isWord && !["inout", "let", "var"].contains(plain) ? plain : name
  }

  /// The name as a string literal.
  static func literal(_ name: String) -> String {
    var literal = "\""
    for character in plain(name).unicodeScalars {
      if character == "\"" || character == "\\" { literal += "\\" }
      literal.unicodeScalars.append(character)
    }
    return literal + "\""
  }

  /// The table's name for a type's: `city` for `City`, `httpRequest` for `HTTPRequest`.
  static func tableName(_ type: String) -> String {
    let name = Array(plain(type))
    let capitals = name.prefix { $0.isUppercase }.count
    // The last capital begins the next word, unless there is none.
    let isFollowed = capitals > 1 && capitals < name.count && name[capitals].isLetter
    let count = isFollowed ? capitals - 1 : capitals
    return literal(String(name.prefix(count)).lowercased() + String(name.dropFirst(count)))
  }
}
