import LarderSQLite
@_spi(Reflection) import Swift

// A record's stored properties, compared with its columns: what is in no column is lost when a record is written.

/// A column's property, or one that is named as not stored.
struct CoveredProperty {
  /// Where it is in the record, in bytes; nil where only its key path knows.
  let place: Int?
  let type: Any.Type
  let size: Int
  let alignment: Int
  /// The column's name; nil for a property that isn't stored.
  let column: String?
}

/// The stored properties of a type that no column has.
struct StoredProperties {
  private struct Field {
    let name: String
    let offset: Int
    let type: Any.Type
    var size: Int { Self.size(of: type) }

    static func size(of type: Any.Type) -> Int {
      func size<T>(_ type: T.Type) -> Int { MemoryLayout<T>.size }
      return _openExistential(type, do: size)
    }
  }

  private let placed: [CoveredProperty]
  private var unplaced: [CoveredProperty]

  /// - Parameter covered: the properties of the columns, and those that aren't stored.
  init(_ covered: [CoveredProperty]) {
    placed = covered.filter { $0.place != nil }.sorted { ($0.place ?? 0) < ($1.place ?? 0) }
    unplaced = covered.filter { $0.place == nil }
  }

  /// The names of the properties of a type that nothing covers.
  mutating func uncovered(in type: Any.Type) -> [String] {
    if !(type is AnyClass), unplaced.isEmpty, fillsRecord(of: Field.size(of: type)) { return [] }
    let open = fields(of: type, from: 0).filter { !isCovered($0) }
    return unmatched(open)
  }

  /// Whether the properties lie one behind the other without room between them, in which another one could be.
  private func fillsRecord(of size: Int) -> Bool {
    var end = 0
    for property in placed where property.size > 0 {
      guard property.place == end else { return false }
      end += property.size
    }
    return end == size
  }

  private func fields(of type: Any.Type, from start: Int) -> [Field] {
    var fields: [Field] = []
    // 1 is for classes. The options' own names are variables, which Swift 6 doesn't take.
    let options = _EachFieldOptions(rawValue: type is AnyClass ? 1 : 0)
    _ = _forEachField(of: type, options: options) { name, offset, type, _ in
      let name = String(cString: name)
      // What is made when it is first asked for is made again.
      if !name.hasPrefix("$__lazy_storage_$_") {
        fields.append(Field(name: name, offset: start + offset, type: type))
      }
      return true
    }
    return fields.filter { $0.size > 0 }
  }

  /// Whether a column has it, as a whole or part by part.
  private func isCovered(_ field: Field) -> Bool {
    let end = field.offset + field.size
    let parts = placed.filter {
      $0.size > 0 && ($0.place ?? 0) < end && ($0.place ?? 0) + $0.size > field.offset
    }
    if parts.isEmpty { return false }
    if parts.contains(where: { ($0.place ?? 0) <= field.offset && $0.size >= field.size }) {
      return true
    }
    let inner = fields(of: field.type, from: field.offset)
    return inner.isEmpty || inner.allSatisfy(isCovered)
  }

  /// Those that aren't stood for by a column whose key path doesn't tell its place: one of the same type or, since a
  /// computed property or a wrapper may have any, one for each that is left.
  private mutating func unmatched(_ fields: [Field]) -> [String] {
    func isNamed(_ field: Field, _ property: CoveredProperty) -> Bool {
      property.column.map { $0.foldedName == field.name.foldedName } ?? false
    }
    var open = fields
    for needsName in [true, false] {
      open.removeAll { field in
        let match = unplaced.firstIndex {
          $0.type == field.type && (!needsName || isNamed(field, $0))
        }
        if let match { unplaced.remove(at: match) }
        return match != nil
      }
    }
    return open.count <= unplaced.count ? [] : open.map(\.name)
  }
}
