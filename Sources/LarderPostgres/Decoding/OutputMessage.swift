import CLibPQ

/// A message of `pgoutput`, the server's own plugin of logical decoding, in version 1 of its protocol. Of
/// messages that don't matter here, only the form is checked.
///
/// All bytes came from outside, so each length is checked: a message that ends too early or too late, or of an
/// unknown kind, throws `ServerValueText.Malformed`. Values point into the message, and are valid as long as
/// it is.
///
/// See [Logical Replication Message
/// Formats](https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html).
enum OutputMessage {
  /// A transaction begins, whose commit is at a position of the log.
  case begin(commit: UInt64)
  /// The transaction ends, and its commit in the log at a position.
  case commit(end: UInt64)
  /// A table, as it is from here on. It comes before the table's first change.
  case relation(OutputRelation)
  case insert(Oid, new: [OutputValue])
  case update(Oid, old: OutputOldRow?, new: [OutputValue])
  case delete(Oid, old: OutputOldRow)
  case truncate([Oid])
  /// A type's name, a transaction's origin, or a program's own message.
  case other

  init(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = WireReader(bytes)
    self = try Self.read(from: &reader)
    guard reader.isAtEnd else { throw ServerValueText.Malformed() }
  }

  private static func read(from reader: inout WireReader) throws -> OutputMessage {
    switch try reader.take(UInt8.self) {
    case UInt8(ascii: "B"):
      let commit = try reader.take(UInt64.self)
      _ = try reader.take(count: 8 + 4)  // the time, and the transaction's number
      return .begin(commit: commit)
    case UInt8(ascii: "C"):
      _ = try reader.take(count: 1 + 8)  // flags, and the position of the commit
      let end = try reader.take(UInt64.self)
      _ = try reader.take(count: 8)
      return .commit(end: end)
    case UInt8(ascii: "R"): return .relation(try OutputRelation(from: &reader))
    case UInt8(ascii: "I"):
      let relation = try reader.take(Oid.self)
      guard try reader.take(UInt8.self) == UInt8(ascii: "N") else {
        throw ServerValueText.Malformed()
      }
      return .insert(relation, new: try row(from: &reader))
    case UInt8(ascii: "U"):
      let relation = try reader.take(Oid.self)
      var kind = try reader.take(UInt8.self)
      var old: OutputOldRow?
      if kind != UInt8(ascii: "N") {
        old = try OutputOldRow(kind, from: &reader)
        kind = try reader.take(UInt8.self)
      }
      guard kind == UInt8(ascii: "N") else { throw ServerValueText.Malformed() }
      return .update(relation, old: old, new: try row(from: &reader))
    case UInt8(ascii: "D"):
      let relation = try reader.take(Oid.self)
      return .delete(relation, old: try OutputOldRow(reader.take(UInt8.self), from: &reader))
    case UInt8(ascii: "T"):
      let count = try reader.take(Int32.self)
      _ = try reader.take(UInt8.self)  // CASCADE, RESTART IDENTITY
      guard count >= 0 else { throw ServerValueText.Malformed() }
      var relations: [Oid] = []
      for _ in 0..<count { relations.append(try reader.take(Oid.self)) }
      return .truncate(relations)
    case UInt8(ascii: "O"):
      _ = try reader.take(count: 8)
      _ = try reader.takeString()
    case UInt8(ascii: "Y"):
      _ = try reader.take(count: 4)
      _ = (try reader.takeString(), try reader.takeString())
    case UInt8(ascii: "M"):
      _ = try reader.take(count: 1 + 8)
      _ = try reader.takeString()
      _ = try reader.take(count: Int(try reader.take(Int32.self)))
    default: throw ServerValueText.Malformed()
    }
    return .other
  }

  fileprivate static func row(from reader: inout WireReader) throws -> [OutputValue] {
    let count = try reader.take(Int16.self)
    guard count >= 0 else { throw ServerValueText.Malformed() }
    var values: [OutputValue] = []
    for _ in 0..<count {
      switch try reader.take(UInt8.self) {
      case UInt8(ascii: "n"): values.append(.null)
      case UInt8(ascii: "u"): values.append(.unchanged)
      case UInt8(ascii: "t"):
        values.append(.text)
        _ = try reader.take(count: Int(try reader.take(Int32.self)))
      case UInt8(ascii: "b"):
        values.append(.binary(try reader.take(count: Int(try reader.take(Int32.self)))))
      default: throw ServerValueText.Malformed()
      }
    }
    return values
  }
}

/// A value of a changed row.
enum OutputValue {
  case null
  /// A large value, stored apart (TOAST), which the update has left as it was. It isn't sent.
  case unchanged
  /// A value of a type without a binary form, which isn't read.
  case text
  case binary(UnsafeRawBufferPointer)
}

/// A row as it was before: all of its values, or those of its key, with NULL for all others.
struct OutputOldRow {
  let isKey: Bool
  let values: [OutputValue]

  fileprivate init(_ kind: UInt8, from reader: inout WireReader) throws {
    guard kind == UInt8(ascii: "K") || kind == UInt8(ascii: "O") else {
      throw ServerValueText.Malformed()
    }
    isKey = kind == UInt8(ascii: "K")
    values = try OutputMessage.row(from: &reader)
  }
}

/// A table of a publication.
struct OutputRelation {
  struct Column: Equatable {
    let name: String
    let type: Oid
    /// Whether the column belongs to the table's REPLICA IDENTITY.
    let isKey: Bool
  }

  let number: Oid
  let schema: String
  let table: String
  /// Whether old rows are sent as a whole (`REPLICA IDENTITY FULL`).
  let hasWholeRows: Bool
  let columns: [Column]

  fileprivate init(from reader: inout WireReader) throws {
    number = try reader.take(Oid.self)
    schema = try reader.takeString()
    table = try reader.takeString()
    hasWholeRows = try reader.take(UInt8.self) == UInt8(ascii: "f")
    let count = try reader.take(Int16.self)
    guard count >= 0 else { throw ServerValueText.Malformed() }
    var columns: [Column] = []
    for _ in 0..<count {
      let flags = try reader.take(UInt8.self)
      let name = try reader.takeString()
      let type = try reader.take(Oid.self)
      _ = try reader.take(count: 4)  // the type's modifier
      columns.append(Column(name: name, type: type, isKey: flags & 1 != 0))
    }
    self.columns = columns
  }
}
