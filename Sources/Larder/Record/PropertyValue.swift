import LarderSQLite

/// A property of a record with the column that it is for, whatever its type.
protocol PropertyValue: Sendable {
  /// Puts the value into memory that holds none.
  func initialize(_ memory: UnsafeMutableRawPointer)
  /// Whether another value is of the same type and equal to this one or, where the type doesn't say what is
  /// equal, stored as this one is.
  func isEqual(to other: any PropertyValue) -> Bool
  /// Whether a value in memory, of the same type, is equal.
  func isEqual(toValueIn memory: UnsafeRawPointer) -> Bool
}

/// Gets a property of a record that is in memory; nil where its key path is another type's.
typealias PropertyReader = @Sendable (UnsafeRawPointer) -> (any PropertyValue)?

extension Column {
  /// What gets the column's property, for a record of the column's type.
  var propertyReader: PropertyReader {
    { [storage] record in
      guard let keyPath = storage.access.keyPath as? KeyPath<R, Value> else { return nil }
      let value = record.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath]
      return StoredProperty(value: value, column: storage)
    }
  }
}

private struct StoredProperty<Value: Sendable>: PropertyValue {
  let value: Value
  let column: ColumnStorage<Value>

  func initialize(_ memory: UnsafeMutableRawPointer) {
    memory.initializeMemory(as: Value.self, to: value)
  }

  func isEqual(to other: any PropertyValue) -> Bool {
    (other as? StoredProperty).map(isEqual) ?? false
  }

  func isEqual(toValueIn memory: UnsafeRawPointer) -> Bool {
    isEqual(
      to: StoredProperty(
        value: memory.assumingMemoryBound(to: Value.self).pointee, column: column))
  }

  private func isEqual(to other: StoredProperty) -> Bool {
    func areEqual<T: Equatable>(_ type: T.Type) -> Bool? {
      guard let value = value as? T, let other = other.value as? T else { return nil }
      return value == other
    }
    if let type = Value.self as? any Equatable.Type, let areEqual = areEqual(type) {
      return areEqual
    }
    let stored = [self, other].map {
      try? $0.column.databaseValue(of: $0.value, .secondsSince1970)
    }
    return stored[0] == stored[1]
  }
}
