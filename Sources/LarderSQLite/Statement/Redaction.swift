import CSQLite

/// Keeps arguments' values out of messages, unless ``Configuration/showsArguments`` is on.
enum Redaction {
  private static let mark = "…"

  /// Removes the texts and the longer numbers among some values from a message.
  static func hide(_ values: [DatabaseValue], in message: String) -> String {
    var bytes = Array(message.utf8)
    for value in values {
      let text: String
      switch value {
      case .text(let value): text = value
      case .integer(let value) where !(-99...99).contains(value): text = String(value)
      case .real(let value): text = String(value)
      case .integer, .blob, .null: continue
      }
      let found = Array(text.utf8)
      guard !found.isEmpty, found.count <= bytes.count else { continue }
      bytes = replacing(found, in: bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func replacing(_ found: [UInt8], in bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    while let place = place(of: found, in: bytes, from: start) {
      result += bytes[start..<place] + Array(mark.utf8)
      start = place + found.count
    }
    return result + bytes[start...]
  }

  private static func place(of found: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    let offset = bytes[start...].withUnsafeBufferPointer { rest in
      found.withUnsafeBufferPointer { rest.offset(of: $0) }
    }
    return offset.map { start + $0 }
  }

  /// Removes the words that only the arguments of a statement have from a message.
  static func hide(wordsOf expanded: String, butNotOf sql: String, in message: String) -> String {
    let arguments = Set(pieces(of: expanded)).subtracting(pieces(of: sql))
    let shown = pieces(of: message).map { piece in
      piece.first?.isSQLWord == true && arguments.contains(piece) ? Array(mark.utf8)[...] : piece
    }
    return String(decoding: Array(shown.joined()), as: UTF8.self)
  }

  /// Splits a text into words and the pieces between them.
  private static func pieces(of text: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(text.utf8)
    var pieces: [ArraySlice<UInt8>] = []
    var start = 0
    for end in bytes.indices.dropFirst() where bytes[end].isSQLWord != bytes[end - 1].isSQLWord {
      pieces.append(bytes[start..<end])
      start = end
    }
    return start < bytes.count ? pieces + [bytes[start...]] : pieces
  }
}

extension Connection {
  /// SQLite's message about a statement that ran, without the values of its arguments: full-text
  /// searches, JSON paths and ATTACH repeat them, whole or in part.
  func hidingArguments(of statement: OpaquePointer?, in message: String) -> String {
    guard !reporting.showsArguments, let statement, let sql = sqlite3_sql(statement),
      sqlite3_bind_parameter_count(statement) > 0,
      // Messages about constraints hold names of the schema, which are parsed later.
      sqlite3_errcode(handle) & 0xff != SQLITE_CONSTRAINT
    else { return message }
    guard let expanded = Self.expandedSQL(of: statement), expanded.utf8.count < 1 << 20 else {
      return String(cString: sqlite3_errstr(sqlite3_extended_errcode(handle)))
    }
    return Redaction.hide(
      wordsOf: expanded, butNotOf: String(cString: sql), in: DatabaseError.cut(message))
  }
}

extension Connection {
  /// The text of a statement with its arguments written out.
  static func expandedSQL(of statement: OpaquePointer?) -> String? {
    guard let statement, let expanded = sqlite3_expanded_sql(statement) else { return nil }
    defer { sqlite3_free(expanded) }
    return String(cString: expanded)
  }
}
