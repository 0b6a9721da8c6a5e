import CSQLite

/// Pure functions of SQLite that it doesn't mark as harmless: up to 3.40, those for JSON. Under the hardened
/// settings, a file couldn't be opened if its constraints, indexes or generated columns use them.
///
/// They are replaced by functions that are marked as harmless and call them; only on connections whose schema
/// needs it, because the detour takes longer.
///
/// The unsafe pointers are sound: SQLite owns the objects behind its functions, and releases them when the
/// connection is closed; arguments are valid for one call, and no copy outlives it. The room that SQLite
/// keeps for a group holds a ``Group`` that it owns.
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
  static func install(on handle: OpaquePointer, keepsGuards: Bool) throws {
    let functions = ReplacedFunctions()
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
      data.map { Unmanaged<HarmlessFunction>.fromOpaque($0).release() }
    }
    func add(
      _ name: String, _ count: Int32, _ install: (UnsafeMutableRawPointer) -> Int32
    ) throws {
      // SQLite owns the function from here on and releases it, also when the call fails.
      let function = Unmanaged.passRetained(HarmlessFunction(name, functions)).toOpaque()
      let code = install(function)
      guard code == SQLITE_OK else {
        throw DatabaseError(ResultCode(rawValue: code), String(cString: sqlite3_errmsg(handle)))
      }
    }
    // A function that the library doesn't have stays unknown.
    let isOlder = sqlite3_libversion_number() < 3_038_000
    for (name, count) in scalars
    where !(isOlder && name.hasPrefix("->")) && !(keepsGuards && name == "json_patch") {
      try add(name, count) { data in
        sqlite3_create_function_v2(
          handle, name, count, flags, data,
          { HarmlessFunction.of($0)?.call($0, $1, $2) }, nil, nil, release)
      }
    }
    for (name, count) in groups {
      try add(name, count) { data in
        sqlite3_create_window_function(
          handle, name, count, flags, data,
          { HarmlessFunction.of($0)?.add($0, $1, $2) },
          { HarmlessFunction.of($0)?.giveResult($0, isLast: true) },
          { HarmlessFunction.of($0)?.giveResult($0, isLast: false) },
          { context, _, _ in HarmlessFunction.of(context)?.removeFirst(context) }, release)
      }
    }
  }
}

/// One of the harmless functions.
private final class HarmlessFunction {
  private let name: String
  private let functions: ReplacedFunctions

  init(_ name: String, _ functions: ReplacedFunctions) {
    self.name = name
    self.functions = functions
  }

  static func of(_ context: OpaquePointer?) -> HarmlessFunction? {
    sqlite3_user_data(context).map {
      Unmanaged<HarmlessFunction>.fromOpaque($0).takeUnretainedValue()
    }
  }

  func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    functions.call(
      name, context, Array(UnsafeBufferPointer(start: values, count: Int(count))))
  }

  // MARK: Groups

  /// The members of an array or object, as JSON without the brackets.
  private final class Group {
    var members: [String] = []
  }

  private var isArray: Bool { name == "json_group_array" }

  private func room(
    _ context: OpaquePointer?, create: Bool
  ) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    let size = create ? Int32(MemoryLayout<UnsafeRawPointer?>.size) : 0
    return sqlite3_aggregate_context(context, size)?
      .assumingMemoryBound(to: UnsafeRawPointer?.self)
  }

  func add(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let room = room(context, create: true) else {
      sqlite3_result_error_nomem(context)
      return
    }
    let group: Group
    if let pointer = room.pointee {
      group = Unmanaged<Group>.fromOpaque(pointer).takeUnretainedValue()
    } else {
      group = Group()
      room.pointee = UnsafeRawPointer(Unmanaged.passRetained(group).toOpaque())
    }
    let arguments = Array(UnsafeBufferPointer(start: values, count: Int(count)))
    guard let value = member(context, arguments.last ?? nil, isName: false) else { return }
    if isArray { return group.members.append(value) }
    // SQLite writes nothing for a name that is NULL.
    let name = sqlite3_value_type(arguments[0]) == SQLITE_NULL ? "" : nil
    guard let name = name ?? member(context, arguments[0], isName: true) else { return }
    group.members.append("\(name):\(value)")
  }

  /// The JSON of a value inside an array; nil if the value has none.
  private func member(
    _ context: OpaquePointer?, _ value: OpaquePointer?, isName: Bool
  ) -> String? {
    var member: String?
    functions.evaluate("json_array", context, [value], asText: isName) { result in
      guard let bytes = sqlite3_value_text(result) else { return }
      let text = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(result)))
      member = String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
    }
    return member
  }

  func removeFirst(_ context: OpaquePointer?) {
    guard let pointer = room(context, create: false)?.pointee else { return }
    let group = Unmanaged<Group>.fromOpaque(pointer).takeUnretainedValue()
    if !group.members.isEmpty { group.members.removeFirst() }
  }

  /// - Parameter isLast: whether this is the last call for the group.
  func giveResult(_ context: OpaquePointer?, isLast: Bool) {
    let room = room(context, create: false)
    let group = room?.pointee.map { pointer in
      let group = Unmanaged<Group>.fromOpaque(pointer)
      return isLast ? group.takeRetainedValue() : group.takeUnretainedValue()
    }
    if isLast { room?.pointee = nil }
    let members = (group?.members ?? []).joined(separator: ",")
    var text = isArray ? "[\(members)]" : "{\(members)}"
    text.withUTF8 { larder_result_text(context, $0.baseAddress, UInt64($0.count)) }
    sqlite3_result_subtype(context, UInt32(UInt8(ascii: "J")))
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
    hasHarmlessFunctions =
      (try? HarmlessFunctions.install(on: handle, keepsGuards: isGuarded)) != nil
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
