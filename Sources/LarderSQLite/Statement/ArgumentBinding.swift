// Binds lists of arguments without copying them, by reading their memory directly.

extension BindingArena {
  /// Binds a value, or NULL, to a parameter, counted from 1.
  func bind(_ value: (any DatabaseValueConvertible)?, at index: Int32) throws {
    let parameter = ParameterBinder(arena: self, index: index)
    if let value { try value.bind(to: parameter) } else { try parameter.bindNull() }
  }

  /// Binds values, or NULL, to the parameters from the first on.
  func bind(_ values: [(any DatabaseValueConvertible)?]) throws {
    guard ArgumentLayout.isKnown else {
      for (index, value) in values.enumerated() {
        try bind(value, at: Int32(truncatingIfNeeded: index + 1))
      }
      return
    }
    try values.withUnsafeBytes { bytes in
      guard var value = bytes.baseAddress else { return }
      for index in 0..<values.count {
        try bind(argumentAt: value, at: Int32(truncatingIfNeeded: index + 1))
        value += ArgumentLayout.stride
      }
    }
  }

  /// Binds named values, or NULL, to the parameters at these positions.
  func bind(_ pairs: [Arguments.Pair], at positions: [Int32]) throws {
    guard ArgumentLayout.isKnown else {
      for (pair, index) in zip(pairs, positions) { try bind(pair.value, at: index) }
      return
    }
    try pairs.withUnsafeBytes { bytes in
      guard var value = bytes.baseAddress else { return }
      value += ArgumentLayout.offsetInPair
      for index in positions {
        try bind(argumentAt: value, at: index)
        value += MemoryLayout<Arguments.Pair>.stride
      }
    }
  }

  @inline(__always)
  private func bind(argumentAt address: UnsafeRawPointer, at index: Int32) throws {
    let parameter = ParameterBinder(arena: self, index: index)
    if address.load(fromByteOffset: ArgumentLayout.typeOffset, as: UInt.self) == 0 {
      try parameter.bindNull()
    } else {
      try address.assumingMemoryBound(to: (any DatabaseValueConvertible).self).pointee
        .bind(to: parameter)
    }
  }
}

/// The memory layout of an argument: three words for the value or a reference to it, one for its
/// type, one for its conformance. The type word of a nil is zero.
///
/// To unwrap an Optional existential, the compiler copies it by calls into the runtime that take
/// longer than binding (1,200 instructions for five arguments). Reading the words is sound because
/// the layout is verified (`isKnown`) before it is relied on.
private enum ArgumentLayout {
  static let stride = MemoryLayout<(any DatabaseValueConvertible)?>.stride
  static let typeOffset = 3 * MemoryLayout<UInt>.size
  static let offsetInPair = MemoryLayout<Arguments.Pair>.offset(of: \.value) ?? 0

  static let isKnown: Bool = {
    func type(_ value: (any DatabaseValueConvertible)?) -> UInt {
      withUnsafeBytes(of: value) { $0.load(fromByteOffset: typeOffset, as: UInt.self) }
    }
    return stride == 5 * MemoryLayout<UInt>.size
      && stride == MemoryLayout<any DatabaseValueConvertible>.stride
      && offsetInPair > 0 && type(nil) == 0 && type(0) != 0 && type("") != 0
  }()
}

extension PreparedStatement {
  /// Runs a closure that binds values. They are bound by the caller's code, which must not get at
  /// the statement meanwhile. Errors are thrown with the statement's text.
  @usableFromInline
  package func bind(_ bind: (BindingArena) throws -> Void) throws {
    try beginBinding()
    do {
      try bind(arena)
    } catch {
      throw endBinding(after: error)
    }
    try endBinding()
  }

  @usableFromInline @inline(__always)
  func beginBinding() throws {
    if _slowPath(isOutdated) { try renew() }
    state = .running
    connection.callDepth &+= 1
    arena.rewind()
  }

  @usableFromInline @inline(__always)
  func endBinding() throws {
    connection.callDepth &-= 1
    let isClosing = state == .closing
    state = .ready
    if _slowPath(isClosing) { throw closedError() }
  }

  @usableFromInline @inline(never)
  func endBinding(after error: any Error) -> any Error {
    connection.callDepth &-= 1
    state = .ready
    if let error = error as? DatabaseError {
      return DatabaseError(
        error.extendedCode, error.message, sql: sql, engine: connection.engine?.name ?? "SQLite",
        sqlState: error.sqlState
      ).at(placeOf: error)
    }
    guard var error = error as? ConversionError else { return error }
    error.sql = sql
    return error
  }
}
