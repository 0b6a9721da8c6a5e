import CSQLite

/// One call of an SQL function by SQLite: its arguments, and the place for its result.
///
/// Pointer safety: SQLite makes the pointers for one call. A callback makes this value of them, and nothing
/// keeps it, an argument, or an argument's bytes beyond the call.
struct FunctionCall {
  /// A function as SQLite calls it.
  typealias Callback =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  /// The part of an aggregate that gives the result of a group.
  typealias ResultCallback = @convention(c) (OpaquePointer?) -> Void

  private let context: OpaquePointer?
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  let count: Int

  @inline(__always)
  init(
    _ context: OpaquePointer?, _ count: Int32 = 0,
    _ values: UnsafeMutablePointer<OpaquePointer?>? = nil
  ) {
    self.context = context
    self.values = values
    self.count = Int(count)
  }

  /// An argument by its position from 0, which has to be less than ``count``.
  @inline(__always)
  subscript(index: Int) -> FunctionArgument { FunctionArgument(value: values?[index]) }

  var arguments: [FunctionArgument] { (0..<count).map { self[$0] } }

  /// The connection whose statement calls the function.
  var database: OpaquePointer? { sqlite3_context_db_handle(context) }

  // MARK: Results

  func setResult(_ value: Int64) { sqlite3_result_int64(context, value) }

  func setResult(_ value: Bool) { sqlite3_result_int(context, value ? 1 : 0) }

  func setResult(_ value: Double) { sqlite3_result_double(context, value) }

  func setResult(_ value: FunctionArgument) { sqlite3_result_value(context, value.value) }

  func setResult(text bytes: LentBytes) {
    // A nil pointer would turn an empty text into NULL.
    guard let start = bytes.baseAddress else { return larder_result_text(context, "", 0) }
    larder_result_text(context, start, UInt64(bytes.count))
  }

  func setResult(text bytes: [UInt8]) { bytes.withUnsafeBufferPointer { setResult(text: $0) } }

  func setResult(_ text: String) { text.withBytes { setResult(text: $0) } }

  func setResult(blob bytes: [UInt8]) {
    // An empty blob may have a nil pointer, which would make it NULL.
    if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
    bytes.withUnsafeBytes { larder_result_blob(context, $0.baseAddress, UInt64($0.count)) }
  }

  func setResult(_ value: DatabaseValue) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let number): setResult(number)
    case .real(let number): setResult(number)
    case .text(let text): setResult(text)
    case .blob(let bytes): setResult(blob: bytes)
    }
  }

  /// Marks a result that is a text as JSON, so that SQLite's functions don't take it for a plain text.
  func markAsJSON() { sqlite3_result_subtype(context, FunctionArgument.json) }

  /// Makes the statement fail with a message and, unless that is nil, a code.
  func fail(_ message: String, _ code: ResultCode? = .constraintDatatype) {
    sqlite3_result_error(context, message, -1)
    if let code { fail(code) }
  }

  /// Makes the statement fail with SQLite's own message for a code, if it has none yet.
  func fail(_ code: ResultCode) { sqlite3_result_error_code(context, code.rawValue) }

  func failForMemory() { sqlite3_result_error_nomem(context) }

  // MARK: Objects

  func object<Object: AnyObject>(as type: Object.Type = Object.self) -> Object? {
    sqlite3_user_data(context).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The memory that SQLite keeps for a group of rows, zeroed at first: one pointer, which owns an object.
  private func room(size: Int) -> UnsafeMutablePointer<UnsafeRawPointer?>? {
    sqlite3_aggregate_context(context, Int32(size))?.assumingMemoryBound(to: UnsafeRawPointer?.self)
  }

  /// The object of a group of rows, which is made with its first row. Nil, and the call fails, if memory is
  /// short.
  func group<Group: AnyObject>(_ make: () -> Group) -> Group? {
    guard let room = room(size: MemoryLayout<UnsafeRawPointer?>.size) else {
      failForMemory()
      return nil
    }
    if let known = room.pointee {
      return Unmanaged<Group>.fromOpaque(known).takeUnretainedValue()
    }
    let group = make()
    room.pointee = UnsafeRawPointer(Unmanaged.passRetained(group).toOpaque())
    return group
  }

  /// The object of a group; nil if it has had no rows.
  ///
  /// - Parameter isLast: whether this is the last call for the group, after which the object goes.
  func knownGroup<Group: AnyObject>(isLast: Bool, as type: Group.Type = Group.self) -> Group? {
    let room = room(size: 0)
    let group = room?.pointee.map { Unmanaged<Group>.fromOpaque($0) }
    if isLast { room?.pointee = nil }
    return isLast ? group?.takeRetainedValue() : group?.takeUnretainedValue()
  }

  /// Calls a closure with the object that SQLite keeps with an argument, as long as that is the same for all
  /// rows. It is made for the first one.
  @inline(__always)
  func withKept<Object: AnyObject, Result>(
    _ argument: Int, _ make: () throws -> Object, _ body: (Object) throws -> Result
  ) rethrows -> Result {
    if let known = sqlite3_get_auxdata(context, Int32(argument)) {
      return try Unmanaged<Object>.fromOpaque(known)._withUnsafeGuaranteedRef { try body($0) }
    }
    let object = try make()
    // SQLite releases the object with the statement, or at once.
    sqlite3_set_auxdata(context, Int32(argument), Unmanaged.passRetained(object).toOpaque()) {
      $0.map { Unmanaged<AnyObject>.fromOpaque($0).release() }
    }
    return try body(object)
  }
}

/// A value of SQLite's: an argument of a function, valid during the call, or a copy.
struct FunctionArgument {
  let value: OpaquePointer?

  /// The subtype of results of SQLite's JSON functions, so that a nested one isn't taken for a text.
  fileprivate static let json = UInt32(UInt8(ascii: "J"))

  /// The value's type code in SQLite, such as `SQLITE_TEXT`.
  var type: Int32 { sqlite3_value_type(value) }
  var isNull: Bool { type == SQLITE_NULL }
  var isJSON: Bool { sqlite3_value_subtype(value) == Self.json }

  // SQLite converts values of other types.

  var integer: Int64 { sqlite3_value_int64(value) }
  var real: Double { sqlite3_value_double(value) }

  /// The bytes of a text in UTF-8; nil for NULL, and if memory is short.
  var text: LentBytes? {
    // Text first, then bytes: the first call may convert from UTF-16, which changes the length.
    guard let start = sqlite3_value_text(value) else { return nil }
    return LentBytes(start: start, count: byteCount)
  }

  /// The text, repaired if it isn't UTF-8; empty for NULL, and if memory is short.
  var string: String { text.map { String(decoding: $0, as: UTF8.self) } ?? "" }

  /// The bytes of a blob; nil if memory is short.
  var blob: LentBytes? {
    let start = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
    let count = byteCount
    return start != nil || count == 0 ? LentBytes(start: start, count: count) : nil
  }

  var byteCount: Int { Int(sqlite3_value_bytes(value)) }

  /// Calls a closure with a copy, whose conversion leaves the value as it is.
  func withCopy<T>(_ body: (FunctionArgument) -> T) -> T {
    let copy = sqlite3_value_dup(value)
    defer { sqlite3_value_free(copy) }
    return body(FunctionArgument(value: copy))
  }
}
