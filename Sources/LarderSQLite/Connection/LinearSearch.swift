import CSQLite

/// `instr` in linear time. The time of SQLite's own grows with the product of the texts' lengths:
/// 16 s for half a megabyte in one, which no deadline interrupts, since it is a single step.
///
/// The unsafe pointers are sound: SQLite makes them for one call, and no copy outlives it.
enum LinearSearch {
  /// Replaces SQLite's function on a connection.
  static func install(on handle: OpaquePointer) throws {
    let code = sqlite3_create_function_v2(
      handle, "instr", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
      { context, _, values in LinearSearch.search(context, values) }, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }

  private static func search(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL,
      sqlite3_value_type(values[1]) != SQLITE_NULL
    else { return }
    let isBlob = sqlite3_value_type(values[0]) == SQLITE_BLOB
    guard isBlob != (sqlite3_value_type(values[1]) == SQLITE_BLOB) else {
      report(place(of: bytes(values[1], isBlob), in: bytes(values[0], isBlob), !isBlob), context)
      return
    }
    // A blob beside a text counts as text. Copies are read, since the conversion changes the value.
    let text = sqlite3_value_dup(values[0])
    let needle = sqlite3_value_dup(values[1])
    defer {
      sqlite3_value_free(text)
      sqlite3_value_free(needle)
    }
    report(place(of: bytes(needle, false), in: bytes(text, false), true), context)
  }

  private static func bytes(_ value: OpaquePointer?, _ isBlob: Bool) -> UnsafeRawBufferPointer? {
    // Text first, then bytes: the first call may convert from UTF-16, which changes the length.
    let start = isBlob ? sqlite3_value_blob(value) : UnsafeRawPointer(sqlite3_value_text(value))
    let count = Int(sqlite3_value_bytes(value))
    guard start != nil || count == 0 && isBlob else { return nil }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  private static func report(_ place: Int?, _ context: OpaquePointer?) {
    guard let place else {
      sqlite3_result_error_nomem(context)
      return
    }
    sqlite3_result_int64(context, Int64(place))
  }

  /// The place from 1, in characters or in bytes; 0 if there is none, nil if memory was short.
  private static func place(
    of needle: UnsafeRawBufferPointer?, in text: UnsafeRawBufferPointer?, _ countsCharacters: Bool
  ) -> Int? {
    guard let needle, let text else { return nil }
    guard let first = needle.first else { return 1 }
    guard let start = text.baseAddress, let wanted = needle.baseAddress else { return 0 }
    // SQLite compares at the beginning, and where characters begin. A needle that begins inside of
    // a character is found nowhere else than at the beginning, any other never inside of a
    // character.
    if countsCharacters, isInside(first) { return text.starts(with: needle) ? 1 : 0 }
    guard let found = larder_find(start, text.count, wanted, needle.count) else { return 0 }
    let offset = found - start
    guard countsCharacters, offset > 0 else { return offset + 1 }
    return text[1..<offset].count { !isInside($0) } + 2
  }

  /// Whether a byte of UTF-8 belongs to a character that began before.
  private static func isInside(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
