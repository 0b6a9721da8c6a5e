import CLibPQ
import LarderSQLite

/// A table that a feed follows: makes changes of the rows that the server sends.
struct FollowedRelation {
  private typealias Malformed = ServerValueText.Malformed

  let relation: OutputRelation
  /// The table that is told: the relation itself, or the partitioned table whose partition it is.
  private let told: FeedTable.Name
  /// The columns' types; nil for those that can't be read.
  private let types: [ServerType?]
  /// The positions and names of the columns that can be read, of all and of the key.
  private let all: (positions: [Int], names: [String])
  private let key: (positions: [Int], names: [String])

  init(_ relation: OutputRelation, types: [ServerType?], of whole: FeedTable.Name? = nil) {
    self.relation = relation
    told = whole ?? FeedTable.Name(schema: relation.schema, table: relation.table)
    self.types = types
    let positions = types.indices.filter { types[$0] != nil }
    let keys = positions.filter { relation.columns[$0].isKey }
    all = (positions, positions.map { relation.columns[$0].name })
    key = (keys, keys.map { relation.columns[$0].name })
  }

  func inserted(_ new: [OutputValue]) throws -> RowChange {
    change(old: nil, new: try values(new, at: all.positions))
  }

  func deleted(_ old: OutputOldRow) throws -> RowChange {
    let known = old.isKey ? key : all
    return change(
      oldColumns: old.isKey ? known.names : nil, old: try values(old.values, at: known.positions),
      new: nil)
  }

  func updated(_ old: OutputOldRow?, _ new: [OutputValue]) throws -> RowChange {
    guard new.count == types.count, old.map({ $0.values.count == types.count }) ?? true else {
      throw Malformed()
    }
    // A key column or whole row that was stored apart is sent with the old row.
    let new = new.enumerated().map { index, value -> OutputValue in
      guard case .unchanged = value, let old, !old.isKey || relation.columns[index].isKey else {
        return value
      }
      return old.values[index]
    }
    if let old, !old.isKey {
      return change(
        old: try values(old.values, at: all.positions), new: try values(new, at: all.positions))
    }
    // An old row of which nothing is sent has the same key.
    guard !relation.hasWholeRows else { throw Malformed() }
    let oldKey = try values(old?.values ?? new, at: key.positions)
    let known = all.positions.filter { if case .unchanged = new[$0] { false } else { true } }
    let names =
      known.count == all.names.count ? all.names : known.map { relation.columns[$0].name }
    return change(
      columns: names, oldColumns: key.names, old: oldKey, new: try values(new, at: known))
  }

  private func change(
    columns: [String]? = nil, oldColumns: [String]? = nil, old: [DatabaseValue]?,
    new: [DatabaseValue]?
  ) -> RowChange {
    RowChange(
      schema: told.schema, table: told.table, columns: columns ?? all.names,
      oldColumns: oldColumns, old: old, new: new)
  }

  private func values(_ row: [OutputValue], at positions: [Int]) throws -> [DatabaseValue] {
    guard row.count == types.count else { throw Malformed() }
    return try positions.map { position in
      switch row[position] {
      case .null: return .null
      case .binary(let bytes):
        guard let type = types[position] else { throw Malformed() }
        return try DatabaseValue(bytes, of: type)
      case .unchanged, .text: throw Malformed()
      }
    }
  }
}

extension DatabaseValue {
  /// A value in the binary form of its type, as a statement's result has it: see `PostgresStatement`. Throws
  /// for bytes that are no such value.
  fileprivate init(_ bytes: UnsafeRawBufferPointer, of type: ServerType) throws {
    guard let plain = type.plainType else {
      guard let text = ServerValueText.text(of: bytes, type) else {
        throw ServerValueText.Malformed()
      }
      self = .text(String(decoding: text, as: UTF8.self))
      return
    }
    if plain == TypeOID.numeric {
      guard let text = NumericFormat.text(of: bytes) else { throw ServerValueText.Malformed() }
      self = Int64(text).map(DatabaseValue.integer) ?? .text(text)
      return
    }
    let value = EngineValue(bytes, of: plain)
    switch value.storageClass {
    case .null: self = .null
    case .integer: self = .integer(value.integer)
    case .real: self = value.real.isNaN ? .null : .real(value.real)
    case .text: self = .text(String(decoding: value.bytes, as: UTF8.self))
    case .blob:
      guard plain == TypeOID.bytea || plain == TypeOID.uuid && bytes.count == 16 else {
        throw ServerValueText.Malformed()
      }
      self = .blob([UInt8](value.bytes))
    }
  }
}
