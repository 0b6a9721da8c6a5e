import CSQLite
import LarderSQLite

/// A String, or a number that takes 64 bits in memory as in SQLite. A layout reads and binds these itself: of the
/// time that a closure took for a number, three quarters went into its call.
@usableFromInline
enum PlainValue: Sendable {
  case integer, real, text

  // Inlined, it is decided by the compiler: each query asks for its columns' types.
  @inlinable
  init?<Value>(_ type: Value.Type) {
    if type == Int64.self || type == Int.self && MemoryLayout<Int>.size == 8 {
      self = .integer
    } else if type == Double.self {
      self = .real
    } else if type == String.self {
      self = .text
    } else {
      return nil
    }
  }
}

/// The type of a property that a layout reads and binds itself: that of a ``PlainValue``, or an Optional of it.
///
/// The raw pointers of its functions are sound: they are those of ``PropertyAccess``, of a property of the type.
struct PlainType {
  /// SQLite's code of the storage class; 0 for another type.
  private let code: Int32
  private let isOptional: Bool

  /// - Parameter isWritten: whether values are bound, and not only read.
  init(_ property: PropertyAccess, isWritten: Bool) {
    var plain = property.plain
    var isOptional = false
    // A property with a coding, or one that only its key path reads, isn't stored as it is.
    if property.isStored {
      let type = property.valueType
      if let optional = Self.optional(type) { (plain, isOptional) = (optional, true) }
    } else if isWritten {
      plain = nil
    }
    self.isOptional = isOptional
    code =
      switch plain {
      case .integer: SQLITE_INTEGER
      case .real: SQLITE_FLOAT
      case .text: SQLITE_TEXT
      case nil: 0
      }
  }

  private static func optional(_ type: any Any.Type) -> PlainValue? {
    if type == String?.self { return .text }
    if type == Int64?.self || type == Int?.self && MemoryLayout<Int>.size == 8 { return .integer }
    return type == Double?.self ? .real : nil
  }

  /// Initializes memory with a value of SQLite's. Returns false, and leaves the memory as it is, for a value of
  /// another storage class.
  @inline(__always)
  func read(
    _ value: OpaquePointer?, _ format: StorageFormat, into memory: UnsafeMutableRawPointer
  ) throws -> Bool {
    let stored = sqlite3_value_type(value)
    if stored == code {
      if stored == SQLITE_TEXT {
        // An Optional's String has the memory of one that isn't Optional.
        let text = try ColumnReader(value: value, format: format).text()
        memory.initializeMemory(as: String.self, to: text)
      } else if stored == SQLITE_INTEGER {
        let integer = sqlite3_value_int64(value)
        memory.storeBytes(of: integer, as: Int64.self)
        if isOptional { memory.initializeMemory(as: Int64?.self, to: integer) }
      } else {
        let real = sqlite3_value_double(value)
        memory.storeBytes(of: real, as: Double.self)
        if isOptional { memory.initializeMemory(as: Double?.self, to: real) }
      }
      return true
    }
    guard isOptional, code != 0, stored == SQLITE_NULL else { return false }
    switch code {
    case SQLITE_INTEGER: memory.initializeMemory(as: Int64?.self, to: nil)
    case SQLITE_FLOAT: memory.initializeMemory(as: Double?.self, to: nil)
    default: memory.initializeMemory(as: String?.self, to: nil)
    }
    return true
  }

  /// Binds a value in memory to a parameter of SQLite's. Returns whether it is done. If it isn't, the property's
  /// own way does it, or throws what is wrong.
  @inline(__always)
  func bind(_ memory: UnsafeRawPointer, to arena: BindingArena, at index: Int32) -> Bool {
    let result: Int32
    if code == SQLITE_TEXT {
      let isNil = isOptional && memory.assumingMemoryBound(to: String?.self).pointee == nil
      if isNil { return sqlite3_bind_null(arena.statement, index) == SQLITE_OK }
      result = arena.bindText(of: memory, at: index)
    } else if code == SQLITE_INTEGER {
      if isOptional, memory.load(as: Int64?.self) == nil {
        return sqlite3_bind_null(arena.statement, index) == SQLITE_OK
      }
      result = sqlite3_bind_int64(arena.statement, index, memory.load(as: Int64.self))
    } else if code == SQLITE_FLOAT {
      if isOptional, memory.load(as: Double?.self) == nil {
        return sqlite3_bind_null(arena.statement, index) == SQLITE_OK
      }
      let real = memory.load(as: Double.self)
      if real.isNaN { return false }
      result = sqlite3_bind_double(arena.statement, index, real)
    } else {
      return false
    }
    return result == SQLITE_OK
  }
}
