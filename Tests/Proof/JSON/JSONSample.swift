import Foundation

/// What a type's JSON looks like.
indirect enum JSONShape: Sendable {
  case text, number, bool, date, any
  case word([String])
  case list(JSONShape)
  case dictionary(JSONShape)
  case object([(String, JSONShape)])
}

/// A random text of JSON, in which what is rare elsewhere comes often: escapes, numbers in all forms, members twice or
/// missing, values of other types, and bytes that don't belong there.
struct JSONSample {
  var sampler: Sampler
  private(set) var text = ""

  init(sampler: Sampler) { self.sampler = sampler }

  private mutating func space() {
    if sampler.chance(12) { text += sampler.pick(" ", ["\n", "\t", "  ", "\r\n"]) }
  }

  mutating func write(_ shape: JSONShape, depth: Int = 0) {
    space()
    defer { space() }
    if sampler.chance(40) { return text += "null" }
    if sampler.chance(60), depth < 4 { return write(.any, depth: depth + 1) }
    switch shape {
    case .text:
      string(sampler.chance(3) ? sampler.text() : sampler.pick("a", ["", "Oslo", "ä", "x y"]))
    case .word(let words): string(words[Int(sampler.random.next() % UInt64(words.count))])
    case .number: text += number()
    case .bool: text += sampler.pick("true", ["false"])
    case .date:
      string(
        sampler.pick(
          "2026-11-21T08:33:26.123Z", ["2016-07-16", "1999-12-31T23:59:60Z", "x", "2020-02-30"]))
    case .any:
      let shapes: [JSONShape] = [
        .text, .number, .bool, .list(.any), .dictionary(.any), .list(.number),
      ]
      write(shapes[Int(sampler.random.next() % (depth < 4 ? 6 : 3))], depth: depth + 1)
    case .list(let element):
      text += "["
      for index in 0..<Int(sampler.random.next() % (sampler.chance(30) ? 60 : 4)) {
        if index > 0 { text += "," }
        write(element, depth: depth + 1)
      }
      space()
      text += "]"
    case .dictionary(let value):
      let names = ["a", "b", "ä", "a\u{308}", "12", "-3", "", "a b", "\"", "long name number one"]
      let count = Int(sampler.random.next() % (sampler.chance(30) ? 40 : 4))
      members(
        (0..<count).map { index in
          (
            sampler.chance(2)
              ? "k\(index)" : names[Int(sampler.random.next() % UInt64(names.count))], value
          )
        }, depth)
    case .object(var list):
      if sampler.chance(3) { list.reverse() }
      if sampler.chance(6) { list.append((list[0].0, list[0].1)) }
      if sampler.chance(4) { list.insert(("further", .any), at: list.count / 2) }
      if sampler.chance(8) { list.removeFirst() }
      members(list, depth)
    }
  }

  private mutating func members(_ list: [(String, JSONShape)], _ depth: Int) {
    text += "{"
    for (index, member) in list.enumerated() {
      if index > 0 { text += "," }
      space()
      string(member.0)
      space()
      text += ":"
      write(member.1, depth: depth + 1)
    }
    text += "}"
  }

  private mutating func string(_ value: String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case "/" where sampler.chance(2): text += "\\/"
      case _ where scalar.value < 0x20 || sampler.chance(15):
        for unit in String(scalar).utf16 {
          text +=
            "\\u"
            + String(UInt32(unit) + 0x10000, radix: 16, uppercase: sampler.chance(2)).dropFirst()
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private mutating func number() -> String {
    switch sampler.random.next() % 14 {
    case 0: "\(sampler.integer(Int64.self))"
    case 1: "\(sampler.integer(UInt64.self))0"
    case 2: "\(sampler.integer(Int16.self)).\(sampler.random.next() % 100_000)"
    case 3: "\(sampler.integer(Int8.self))e\(sampler.integer(Int8.self))"
    case 4: "\(sampler.integer(Int64.self)).\(sampler.random.next())E+\(sampler.random.next() % 30)"
    case 5:
      sampler.pick(
        "-0",
        ["0.0", "-0.0", "1.0", "00", "-", "1.", ".5", "1e400", "1e-400", "+1", "0x1", "NaN", "5e0"])
    case 6:
      "0.\(String(repeating: "0", count: Int(sampler.random.next() % 20)))\(sampler.random.next() % 1000)"
    case 7: "\(Double(sampler.integer(Int32.self)) / 1000)"
    // Half-way between two numbers of type Float, or nearly.
    case 8:
      "\(16_777_217 + sampler.random.next() % 4_000_000 * 2)\(sampler.pick("", [".0", ".000001", ".000000000001"]))"
    case 9: "\(sampler.float() / 7)"
    default: "\(sampler.random.next() % 200)"
    }
  }

  /// Changes a byte of some texts, or adds or removes one.
  mutating func spoil() {
    guard sampler.chance(8), !text.isEmpty else { return }
    var scalars = Array(text.unicodeScalars)
    let place = Int(sampler.random.next() % UInt64(scalars.count))
    let scalar: Unicode.Scalar = sampler.pick(
      "\"", ["{", "}", "[", "]", ",", ":", "\\", "u", "1", "\0", "\u{FEFF}", "-", "e"])
    switch sampler.random.next() % 4 {
    case 0: scalars.remove(at: place)
    case 1: scalars.insert(scalar, at: place)
    case 2: scalars = Array(scalars[..<place])
    default: scalars[place] = scalar
    }
    text = String(String.UnicodeScalarView(scalars))
  }
}
