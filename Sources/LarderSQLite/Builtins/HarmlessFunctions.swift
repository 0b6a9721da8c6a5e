import CSQLite

/// Pure functions of SQLite that it doesn't mark as harmless: up to 3.40, those for JSON. Under the hardened
/// settings, a file couldn't be opened if its constraints, indexes or generated columns use them.
///
/// They are replaced by functions that are marked as harmless and call them; only on connections whose schema
/// needs it, because the detour takes longer.
enum HarmlessFunctions {
  /// The functions by name and number of arguments, as in SQLite: another number would be another function.
  private static let scalars: [(String, Int32)] = [
    ("json", 1), ("json_array", -1), ("json_array_length", 1), ("json_array_length", 2),
    ("json_extract", -1), ("->", 2), ("->>", 2), ("json_insert", -1), ("json_object", -1),
    ("json_patch", 2), ("json_quote", 1), ("json_remove", -1), ("json_replace", -1),
    ("json_set", -1), ("json_type", 1), ("json_type", 2), ("json_valid", 1),
  ]
  private static let groups: [(String, Int32)] = [
    ("json_group_array", 1), ("json_group_object", 2),
  ]

  /// The function that SQLite's message says the schema must not use; nil for another message.
  static func unsafeFunction(in message: String) -> String? {
    let parts = message.split(separator: "unsafe use of ", maxSplits: 1)
    guard message.contains("unsafe use of "), let last = parts.last, last.hasSuffix("()") else {
      return nil
    }
    return String(last.dropLast(2))
  }

  static func contains(_ name: String) -> Bool {
    (scalars + groups).contains { $0.0 == name.lowercased() }
  }

  /// - Parameter keepsGuards: whether the functions of ``GuardedFunctions`` stay in place.
  static func functions(keepsGuards: Bool) -> [FunctionEntry] {
    let functions = ReplacedFunctions()
    // A function that the library doesn't have stays unknown.
    let isOlder = sqlite3_libversion_number() < 3_038_000
    let known = scalars.filter { name, _ in
      !(isOlder && name.hasPrefix("->")) && !(keepsGuards && name == "json_patch")
    }
    return known.map { name, count in
      FunctionEntry(name, count, flags: FunctionEntry.harmlessFlags) { functions.answer($0, name) }
    }
      + groups.map { name, count in
        let group = JSONGroups(isArray: name == "json_group_array", functions)
        return FunctionEntry(
          name, count, flags: FunctionEntry.harmlessFlags,
          aggregate: .init(step: group.add, inverse: group.removeFirst, answer: group.answer))
      }
  }
}

/// The arrays or objects that SQLite's JSON functions make of groups of rows.
private struct JSONGroups {
  private let isArray: Bool
  private let functions: ReplacedFunctions

  init(isArray: Bool, _ functions: ReplacedFunctions) {
    self.isArray = isArray
    self.functions = functions
  }

  /// The members of an array or object, as JSON without the brackets.
  private final class Group {
    var members: [String] = []
  }

  func add(_ call: FunctionCall) {
    guard let group = call.group({ Group() }),
      let value = member(call, call[call.count - 1], isName: false)
    else { return }
    if isArray { return group.members.append(value) }
    // SQLite writes nothing for a name that is NULL.
    let name = call[0].isNull ? "" : nil
    guard let name = name ?? member(call, call[0], isName: true) else { return }
    group.members.append("\(name):\(value)")
  }

  /// The JSON of a value inside an array; nil if the value has none.
  private func member(_ call: FunctionCall, _ value: FunctionArgument, isName: Bool) -> String? {
    var member: String?
    functions.evaluate("json_array", call, [value], asText: isName) { result in
      member = result.text.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) }
    }
    return member
  }

  func removeFirst(_ call: FunctionCall) {
    guard let group = call.knownGroup(isLast: false, as: Group.self), !group.members.isEmpty
    else { return }
    group.members.removeFirst()
  }

  func answer(_ call: FunctionCall, isLast: Bool) {
    let group = call.knownGroup(isLast: isLast, as: Group.self)
    let members = (group?.members ?? []).joined(separator: ",")
    call.setResult(isArray ? "[\(members)]" : "{\(members)}")
    call.markAsJSON()
  }
}

extension Connection {
  /// Makes harmless functions usable in the schema, after a statement has failed because the schema uses one.
  /// True if the statement should be tried again.
  func makesUsable(after code: Int32) -> Bool {
    guard code & 0xff == SQLITE_ERROR || code & 0xff == SQLITE_CORRUPT, !hasHarmlessFunctions,
      let handle,
      let name = HarmlessFunctions.unsafeFunction(in: String(cString: sqlite3_errmsg(handle))),
      HarmlessFunctions.contains(name)
    else { return false }
    let isGuarded = larder_db_config_value(handle, SQLITE_DBCONFIG_ENABLE_VIEW) == 0
    hasHarmlessFunctions = HarmlessFunctions.functions(keepsGuards: isGuarded).allSatisfy {
      $0.register(on: handle) == SQLITE_OK
    }
    return hasHarmlessFunctions
  }

  /// The advice for a statement that can't be compiled only because the schema uses something that SQLite
  /// doesn't know to be harmless; nil for any other.
  func trustAdvice(for sql: String, _ kind: StatementKind, _ message: String) -> String? {
    guard message.contains("unsafe use of "), let handle,
      larder_db_config_value(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA) == 0
    else { return nil }
    // The statement is compiled with a trusted schema. Functions for statements only still fail in one.
    larder_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    defer {
      larder_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
      forgetSchema()
    }
    var isSchema = message.contains("malformed database schema")
    // A PRAGMA does its work while it is compiled.
    if case .pragma = kind { isSchema = true }
    guard let text = try? SQLText(isSchema ? "SELECT 1 FROM sqlite_schema" : sql) else {
      return nil
    }
    let compiled = text.compile(on: handle)
    sqlite3_finalize(compiled.handle)
    guard compiled.code == SQLITE_OK else { return nil }
    return Self.adviceToTrust
  }

  static let adviceToTrust =
    "the schema uses functions that aren't known to be harmless: if you trust its author, set "
    + "Configuration.trustsSchema"
}
