import LarderMacroExpansion
import Testing

@Suite("The macro plugin's answers to the compiler's messages")
struct PluginMessageTests {
  /// The answer to a JSON message.
  func answer(_ text: String, host: Int = 7) throws -> JSONValue {
    var messages = PluginMessages()
    _ = messages.answer(
      try json(#"{"getCapability":{"capability":{"protocolVersion":\#(host)}}}"#))
    return messages.answer(try json(text))
  }

  func json(_ text: String) throws -> JSONValue { try JSONReader.value(Array(text.utf8)) }

  func syntax(_ source: String, at offset: Int = 100) -> JSONValue {
    .object([
      "source": .string(source),
      "location": .object(["fileName": .string("city.swift"), "offset": .integer(offset)]),
    ])
  }

  func expand(
    _ macro: String, _ role: String, _ declaration: String, context: [String] = [],
    extending type: String? = nil, host: Int = 7, attributeAt offset: Int = 100
  ) throws -> JSONValue {
    var members: JSONObject = [
      "macro": .object(["typeName": .string(macro)]), "macroRole": .string(role),
      "attributeSyntax": syntax(offset == 100 ? "\n@Record " : "@Record ", at: offset),
      "declSyntax": syntax(declaration),
      "lexicalContext": .array(context.map { syntax($0) }),
    ]
    if let type {
      members.append("extendedTypeSyntax", syntax(type))
      members.append(
        "conformanceListSyntax", syntax("struct Placeholder: Record, SingleSource, QuerySource {}"))
    }
    return try answer(
      JSONValue.object(["expandAttachedMacro": .object(members)]).text, host: host)
  }

  func diagnostics(_ answer: JSONValue) -> [String] {
    (answer["expandMacroResult"]?["diagnostics"]?.array ?? []).map {
      "\($0["position"]?["offset"]?.integer ?? -1): \($0["message"]?.string ?? "")"
    }
  }

  @Test("The plugin answers getCapability with its protocol version")
  func capability() throws {
    var messages = PluginMessages()
    #expect(
      messages.answer(try json(#"{"getCapability":{}}"#)).text
        == #"{"getCapabilityResult":{"capability":{"features":[],"protocolVersion":7}}}"#)
  }

  @Test("The plugin expands @Record as member and extension, and @Column to nothing")
  func roles() throws {
    let city = "\n@Record struct City { @Column(.primaryKey) var id: Int }"
    let members = try expand("RecordMacro", "member", city)
    let text = members["expandMacroResult"]?["expandedSource"]?.string
    #expect(text?.hasPrefix("struct Columns: Sendable {\n") == true)
    #expect(
      try expand("RecordMacro", "extension", city, extending: "Outer.City").text
        == #"{"expandMacroResult":{"diagnostics":[],"expandedSource":"extension Outer.City: Larder::Record, Larder::SingleSource, Larder::QuerySource {}"}}"#
    )
    #expect(
      try expand("PropertyMacro", "peer", "@Column var x: Int", context: ["@Record struct S {}"])
        .text == #"{"expandMacroResult":{"diagnostics":[],"expandedSource":""}}"#)
    #expect(
      try expand("PropertyMacro", "peer", "@Column var x: Int", host: 4).text
        == #"{"expandAttachedMacroResult":{"diagnostics":[],"expandedSources":[""]}}"#)
  }

  @Test("The plugin reports a problem at its offset in the file, in one role only")
  func problems() throws {
    let city = "\n@Record struct City { let id = 5 }"
    #expect(
      diagnostics(try expand("RecordMacro", "member", city)) == [
        "127: a constant with an initial value can't be read from a row: make it var, or static, or add @NotStored"
      ])
    #expect(diagnostics(try expand("RecordMacro", "extension", city, extending: "City")) == [])
    #expect(
      diagnostics(
        try expand("PropertyMacro", "peer", "@Column var x: Int", context: ["struct S {}"]))
        == ["101: this attribute can only be on a property of a @Record type"])
    let nested = "\n@Record private struct City { @Column(.primaryKey) var id: Int }"
    #expect(
      diagnostics(
        try expand(
          "RecordMacro", "extension", nested, context: ["enum Outer {}"], extending: "Outer.City"))
        == [])
    #expect(
      diagnostics(try expand("RecordMacro", "member", nested, context: ["enum Outer {}"]))
        == ["117: a private type in another can't be extended: make it fileprivate"])
    let generic = "\n@Record struct City { @Column(.primaryKey) var id: Int }"
    #expect(
      diagnostics(
        try expand("RecordMacro", "member", generic, context: ["struct Outer<T> {}"]))
        == [
          "101: a type in a generic type can't be a record, since it can't have static stored properties"
        ])
  }

  @Test("The plugin reports a second @Record at its place, and expands the first")
  func twice() throws {
    let city = "\n@Record @Record struct City { @Column(.primaryKey) var id: Int }"
    #expect(diagnostics(try expand("RecordMacro", "member", city)) == [])
    for (role, problems) in [
      ("member", ["109: a type can only have one @Record"]), ("extension", []),
    ] {
      let second = try expand("RecordMacro", role, city, extending: "City", attributeAt: 109)
      #expect(diagnostics(second) == problems)
      #expect(second["expandMacroResult"]?["expandedSource"]?.string ?? "" == "")
    }
  }

  @Test(
    "The plugin answers an unknown message with an error that names both protocol versions",
    arguments: [
      #"{"expandFreestandingMacro":{}}"#, #"{"somethingNew":{"x":[1.5e3,null,true]}}"#, "{}", "[]",
      #"{"expandAttachedMacro":{}}"#, #"{"expandAttachedMacro":{"macro":5}}"#, "5", "null",
      #"{"a":1,"b":2}"#,
    ])
  func unknown(message: String) throws {
    let told = diagnostics(try answer(message, host: 99))
    #expect(told.count == 1)
    #expect(
      told.first?.contains("version 7 of the plugin protocol, the compiler version 99") == true)
  }

  @Test("The plugin refuses to load libraries, and reports unknown macro roles as errors")
  func refused() throws {
    let loaded = try answer(#"{"loadPluginLibrary":{"libraryPath":"/x","moduleName":"X"}}"#)
    #expect(loaded["loadPluginLibraryResult"]?["loaded"] == .bool(false))
    #expect(
      diagnostics(try expand("RecordMacro", "body", "struct S {}"))
        == ["100: Larder has no macro RecordMacro that is a body"])
  }

  @Test("The plugin's JSON reader is exact, and throws for malformed JSON")
  func reading() throws {
    #expect(
      try json(#" {"a\n\u00e9\ud83d\ude00":[ -5 , 1.5e3,{}, "é" ]} "#)
        == .object(["a\né😀": .array([.integer(-5), .number("1.5e3"), .object([:]), .string("é")])]))
    let text = "\u{0}\u{1F}\"\\\n\t/é😀\u{7F}"
    #expect(try json(JSONValue.string(text).text) == .string(text))
    #expect(
      try json(#"{"a":1,"staticBuildConfiguration": "{\"x\\\":5\\\\" , "b":2}"#)
        == .object(["a": .integer(1), "b": .integer(2)]))
    for wrong in [
      "", #"{"staticBuildConfiguration":"\"}"#, "{", "[1,]", "{\"a\"}", "\"\\x\"", "\"\\ud800\"",
      "\"\\ud800\\u0041\"", "\"", "nul",
      "1 2",
      "--1", "\"\\u12g4\"", String(repeating: "[", count: 100_000),
    ] {
      #expect(throws: JSONReader.Failure.self, "\(wrong.prefix(20))") { try json(wrong) }
    }
    #expect(throws: JSONReader.Failure.self) {
      try JSONReader.value([UInt8(ascii: "\""), 0xFF, UInt8(ascii: "\"")])
    }
  }
}
