/// Answers the compiler's messages to a plugin. They are JSON objects with one member, which names the
/// message. They are defined in `PluginMessages.swift` of
/// [swift-syntax](https://github.com/swiftlang/swift-syntax).
package struct PluginMessages {
  /// The version of the protocol that Swift 5.9 and later use.
  package static let version = 7
  /// Compilers below this version expect a list of expansions.
  private static let versionOfOneExpansion = 5
  private var hostVersion = version
  private var known = KnownDeclarations()

  package init() {}

  /// The answer to a message; for an unknown message, an error.
  package mutating func answer(_ message: JSONValue) -> JSONValue {
    guard case .object(let message) = message, message.members.count == 1,
      let member = message.members.first
    else { return failure("a malformed message") }
    let content = member.value
    switch member.key {
    case "getCapability":
      hostVersion = content["capability"]?["protocolVersion"]?.integer ?? 0
      return .object([
        "getCapabilityResult": .object([
          "capability": .object([
            "features": .array([]), "protocolVersion": .integer(Self.version),
          ])
        ])
      ])
    case "expandAttachedMacro":
      guard let request = ExpansionRequest(content) else {
        return failure("an incomplete expandAttachedMacro message")
      }
      do {
        return expansion(try request.expansion(&known))
      } catch {
        return expansion(nil, [request.diagnostic(error)])
      }
    case "loadPluginLibrary":
      return .object([
        "loadPluginLibraryResult": .object([
          "diagnostics": .array([diagnostic(unknown("the message loadPluginLibrary"))]),
          "loaded": .bool(false),
        ])
      ])
    default: return failure("the message \(member.key)")
    }
  }

  private func unknown(_ what: String) -> String {
    "Larder's macros don't understand \(what) of the compiler; they use version \(Self.version) of the plugin protocol, the compiler version \(hostVersion)"
  }

  private func failure(_ what: String) -> JSONValue { expansion(nil, [diagnostic(unknown(what))]) }

  private func diagnostic(_ message: String) -> JSONValue {
    SourceLocation(file: "", offset: 0).diagnostic(message)
  }

  private func expansion(_ source: String?, _ diagnostics: [JSONValue] = []) -> JSONValue {
    let source = source.map(JSONValue.string)
    guard hostVersion < Self.versionOfOneExpansion else {
      return .object([
        "expandMacroResult": .object([
          "diagnostics": .array(diagnostics), "expandedSource": source ?? .null,
        ])
      ])
    }
    return .object([
      "expandAttachedMacroResult": .object([
        "diagnostics": .array(diagnostics),
        "expandedSources": source.map { .array([$0]) } ?? .null,
      ])
    ])
  }
}

/// A place in one of the program's files.
struct SourceLocation {
  let file: String
  /// The offset in UTF-8 bytes.
  let offset: Int

  /// An error diagnostic with this text, in the compiler's format.
  func diagnostic(_ message: String) -> JSONValue {
    .object([
      "message": .string(message), "severity": .string("error"),
      "position": .object(["fileName": .string(file), "offset": .integer(offset)]),
      "highlights": .array([]), "notes": .array([]), "fixIts": .array([]),
    ])
  }
}
