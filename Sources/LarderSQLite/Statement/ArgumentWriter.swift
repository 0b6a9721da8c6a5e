/// Binds the values of a statement, one after the other.
package struct ArgumentWriter {
  // Unretained: the statement that makes the writer keeps the arena.
  private unowned(unsafe) let arena: BindingArena
  private var index: Int32 = 0

  init(_ arena: BindingArena) { self.arena = arena }

  package mutating func append(_ value: any DatabaseValueConvertible) throws {
    index &+= 1
    try value.bind(to: ParameterBinder(arena: arena, index: index))
  }

  package mutating func append(_ value: Int) throws {
    index &+= 1
    try ParameterBinder(arena: arena, index: index).bind(Int64(value))
  }

  package mutating func append(_ values: [(any DatabaseValueConvertible)?]) throws {
    if index == 0 {
      index = Int32(truncatingIfNeeded: values.count)
      return try arena.bind(values)
    }
    for value in values {
      index &+= 1
      try arena.bind(value, at: index)
    }
  }
}
