/// A JSON value, <https://www.rfc-editor.org/rfc/rfc8259>.
package enum JSONValue: Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number that isn't an `Int`, by its source text.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package subscript(_ key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  package var array: [JSONValue]? { if case .array(let all) = self { all } else { nil } }

  package var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let number): text += number
    case .string(let string): Self.write(string, to: &text)
    case .array(let all):
      text += "["
      for (index, value) in all.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let object):
      text += "{"
      for (index, member) in object.members.enumerated() {
        if index > 0 { text += "," }
        Self.write(member.key, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    let bytes = SourceBytes(string)
    var copied = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte < .space || byte == .quote || byte == .backslash {
        text += bytes.text(copied, index)
        text += escape(byte)
        copied = index + 1
      }
      index += 1
    }
    text += bytes.text(copied, index)
    text += "\""
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case .quote: "\\\""
    case .backslash: "\\\\"
    case .lineFeed: "\\n"
    default: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}

/// The members of an object in their order. It is a list, since messages have few members.
package struct JSONObject: Equatable, ExpressibleByDictionaryLiteral {
  package struct Member: Equatable {
    let key: String
    let value: JSONValue
  }

  package private(set) var members: [Member] = []

  package init(dictionaryLiteral members: (String, JSONValue)...) {
    for (key, value) in members { append(key, value) }
  }

  package mutating func append(_ key: String, _ value: JSONValue) {
    members.append(Member(key: key, value: value))
  }

  /// The last member with this name.
  package subscript(_ key: String) -> JSONValue? {
    var index = members.count - 1
    while index >= 0 {
      if members[index].key == key { return members[index].value }
      index -= 1
    }
    return nil
  }
}
