import CSQLite

/// `instr` in linear time. The time of SQLite's own grows with the product of the texts' lengths:
/// 16 s for half a megabyte in one, which no deadline interrupts, since it is a single step.
enum LinearSearch {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("instr", 2, flags: FunctionEntry.harmlessFlags) {
        LinearSearch.search(FunctionCall($0, $1, $2))
      }
    ]
  }

  private static func search(_ call: FunctionCall) {
    guard !call[0].isNull, !call[1].isNull else { return }
    let isBlob = call[0].type == SQLITE_BLOB
    let found =
      if isBlob == (call[1].type == SQLITE_BLOB) {
        place(of: call[1], in: call[0], areBlobs: isBlob)
      } else {
        // A blob beside a text counts as text. Copies are read, since the conversion changes the value.
        call[0].withCopy { text in call[1].withCopy { place(of: $0, in: text, areBlobs: false) } }
      }
    if let found { call.setResult(Int64(found)) } else { call.failForMemory() }
  }

  /// The place from 1, in characters or in bytes; 0 if there is none, nil if memory was short.
  private static func place(
    of needle: FunctionArgument, in text: FunctionArgument, areBlobs: Bool
  ) -> Int? {
    guard let needle = areBlobs ? needle.blob : needle.text,
      let text = areBlobs ? text.blob : text.text
    else { return nil }
    guard let first = needle.first else { return 1 }
    // SQLite compares at the beginning, and where characters begin. A needle that begins inside of a
    // character is found nowhere else than at the beginning, any other never inside of a character.
    if !areBlobs, isInside(first) { return text.starts(with: needle) ? 1 : 0 }
    guard let offset = text.offset(of: needle) else { return 0 }
    guard !areBlobs, offset > 0 else { return offset + 1 }
    return text[1..<offset].count { !isInside($0) } + 2
  }

  private static func isInside(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
