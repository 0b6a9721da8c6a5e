/// Names in source text, with or without backticks.
enum Identifier {
  static func plain(_ name: String) -> String {
    name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name
  }

  static func isSame(_ one: String, _ other: String) -> Bool { plain(one) == plain(other) }

  /// The name as an argument's label, which may be a keyword: there the compiler warns about backticks.
  static func label(_ name: String) -> String {
    let plain = plain(name)
    let isWord = plain.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 32) }
    return isWord && !["inout", "let", "var"].contains(plain) ? plain : name
  }

  static func literal(_ name: String) -> String {
    var literal = "\""
    for character in plain(name).unicodeScalars {
      if character == "\"" || character == "\\" { literal += "\\" }
      literal.unicodeScalars.append(character)
    }
    return literal + "\""
  }

  /// The default name of a type's table: `city` for `City`, `httpRequest` for `HTTPRequest`.
  static func tableName(_ type: String) -> String {
    let name = Array(plain(type))
    let capitals = name.prefix { $0.isUppercase }.count
    // The last capital begins the next word, if there is one.
    let isFollowed = capitals > 1 && capitals < name.count && name[capitals].isLetter
    let count = isFollowed ? capitals - 1 : capitals
    return literal(String(name.prefix(count)).lowercased() + String(name.dropFirst(count)))
  }
}
