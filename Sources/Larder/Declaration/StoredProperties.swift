import LarderSQLite
@_spi(Reflection) import Swift

// A record's stored properties, compared with its columns: a property in no column would be lost.

/// A column's property, or one that is named as not stored.
struct CoveredProperty {
  /// The property's offset in the record, in bytes; nil if only its key path knows it.
  let place: Int?
  let type: Any.Type
  let size: Int
  /// The column's name; nil for a property that isn't stored.
  let column: String?
}

/// Finds the stored properties of a type that are in no column.
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

  init(_ covered: [CoveredProperty]) {
    placed = covered.filter { $0.place != nil }.sorted { ($0.place ?? 0) < ($1.place ?? 0) }
    unplaced = covered.filter { $0.place == nil }
  }

  /// The names of a type's stored properties that are neither in a column nor declared as not stored.
  mutating func uncovered(in type: Any.Type) -> [String] {
    if !(type is AnyClass), unplaced.isEmpty, fillsRecord(of: Field.size(of: type)) { return [] }
    return unmatched(fields(of: type, from: 0).filter { !isCovered($0) })
  }

  /// Whether the covered properties fill the record without gaps, so that there is no room for another.
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
    // The value 1 means a class. The named options are global variables, which Swift 6 rejects.
    let options = _EachFieldOptions(rawValue: type is AnyClass ? 1 : 0)
    _ = _forEachField(of: type, options: options) { name, offset, type, _ in
      let name = String(cString: name)
      // A lazy property is skipped: its value is made again at the first access.
      if !name.hasPrefix("$__lazy_storage_$_") {
        fields.append(Field(name: name, offset: start + offset, type: type))
      }
      return true
    }
    return fields.filter { $0.size > 0 }
  }

  /// Whether columns cover the field, as a whole or part by part.
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

  /// The fields without a column. A column whose key path doesn't tell its offset accounts for a field of its
  /// type, or else, since a computed property or a wrapper may have any type, for one more field.
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
