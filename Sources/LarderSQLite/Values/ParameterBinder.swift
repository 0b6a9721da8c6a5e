import CSQLite
import Glibc

/// One parameter of a statement, for ``DatabaseValueConvertible/bind(to:)``.
///
/// A binder is valid only inside that method: keep no copy of it. Its methods throw ``DatabaseError`` if
/// SQLite refuses the value: `ResultCode.tooBig` past its limit of length, and `ResultCode.noMemory`. See
/// [Binding](https://www.sqlite.org/c3ref/bind_blob.html).
public struct ParameterBinder {
  // Unretained: the statement that makes the binder keeps the arena.
  @usableFromInline unowned(unsafe) let arena: BindingArena
  @usableFromInline let index: Int32

  @inlinable
  package init(arena: BindingArena, index: Int32) {
    self.arena = arena
    self.index = index
  }

  @inlinable
  package func bindNull() throws {
    if arena.isEngine { return try bindNullInEngine() }
    try check(sqlite3_bind_null(arena.statement, index))
  }

  /// Binds an integer. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(_ value: Int64) throws {
    if arena.isEngine { return try bindInEngine(value) }
    try check(sqlite3_bind_int64(arena.statement, index, value))
  }

  /// Binds a number. Throws ``ConversionError`` for NaN, which SQLite would store as NULL.
  @inlinable
  public func bind(_ value: Double) throws {
    guard !value.isNaN else { throw ConversionError.failure(.notANumber, Double.self) }
    if arena.isEngine { return try bindInEngine(value) }
    try check(sqlite3_bind_double(arena.statement, index, value))
  }

  /// Binds text, NULs included. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(_ value: String) throws {
    if arena.isEngine { return try bindInEngine(value) }
    try check(value.withBytes { arena.bindText($0, at: index) })
  }

  /// Binds a copy of these UTF-8 bytes as text. Throws as ``ParameterBinder`` says.
  @inlinable
  package func bind(text: LentBytes) throws {
    if arena.isEngine { return try bindInEngine(text) }
    try check(arena.bindText(text, at: index))
  }

  /// Binds a copy of these bytes as a blob. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(_ value: UnsafeRawBufferPointer) throws {
    if arena.isEngine { return try bindInEngine(value) }
    try check(arena.bindBlob(value, at: index))
  }

  /// Binds bytes as a blob. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(_ value: [UInt8]) throws {
    if arena.isEngine { return try value.withUnsafeBytes { try bindInEngine($0) } }
    try check(value.withUnsafeBytes { arena.bindBlob($0, at: index) })
  }

  @usableFromInline
  func bindNullInEngine() throws { try bindInEngine(EngineValue(.null)) }

  @usableFromInline
  func bindInEngine(_ value: Int64) throws { try bindInEngine(EngineValue(value)) }

  @usableFromInline
  func bindInEngine(_ value: Double) throws { try bindInEngine(EngineValue(value)) }

  @usableFromInline
  func bindInEngine(_ value: String) throws {
    try value.withBytes { try bindInEngine(EngineValue(.text, UnsafeRawBufferPointer($0))) }
  }

  @usableFromInline
  func bindInEngine(_ text: LentBytes) throws {
    try bindInEngine(EngineValue(.text, UnsafeRawBufferPointer(text)))
  }

  @usableFromInline
  func bindInEngine(_ value: UnsafeRawBufferPointer) throws {
    try bindInEngine(EngineValue(.blob, value))
  }

  @inline(__always)
  private func bindInEngine(_ value: EngineValue) throws {
    // Unretained, or the arena would be retained and released for each value.
    try Unmanaged.passUnretained(arena)._withUnsafeGuaranteedRef {
      try $0.bindInEngine(value, at: Int(index))
    }
  }

  @inlinable
  func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw failure(code) }
  }

  @usableFromInline
  func failure(_ code: Int32) -> DatabaseError {
    let code = ResultCode(rawValue: code)
    return DatabaseError(
      code, "can't bind argument \(index): \(String(cString: sqlite3_errstr(code.rawValue)))")
  }
}

@available(*, unavailable)
extension ParameterBinder: Sendable {}

/// The memory that holds a statement's text and blobs while it runs.
///
/// Telling SQLite to copy each value costs an allocation each time; memory that outlives the step doesn't
/// (20–30 % of an insert).
///
/// Safety: bound pointers point into `memory`, which is freed only when the statement is finalized, or when
/// every binding has been cleared.
@usableFromInline
package final class BindingArena {
  /// The statement, which changes only between two executions. For results of SQL functions, it is the
  /// context of the call that they answer.
  //
  // Computed: other modules would check each access to a stored property, whatever its attribute says, which
  // took 76 instructions of a record's binding or reading.
  @inlinable package var statement: OpaquePointer { current }
  @exclusivity(unchecked) @usableFromInline var current: OpaquePointer
  /// The statement of another engine, whose row ``statement`` points to; nil for SQLite.
  private let engine: (any EngineStatement)?
  @usableFromInline package let format: StorageFormat
  @exclusivity(unchecked) @usableFromInline var memory: UnsafeMutableRawPointer =
    .allocate(byteCount: 256, alignment: 16)
  @exclusivity(unchecked) @usableFromInline var capacity = 256
  @exclusivity(unchecked) @usableFromInline var used = 0
  /// How many bytes the bindings since the last ``rewind()`` would have taken.
  @exclusivity(unchecked) @usableFromInline var wanted = 0
  /// The arena's maximum size. SQLite copies larger values, so that no statement keeps much memory.
  static let largestCapacity = 1 << 16

  init(statement: OpaquePointer, format: StorageFormat) {
    current = statement
    engine = nil
    self.format = format
  }

  /// Makes the arena for a statement of another engine, which doesn't use the memory.
  init(engine: any EngineStatement, format: StorageFormat) {
    self.engine = engine
    current = engine.row.pointer
    self.format = format
  }

  /// Makes an arena for results of SQL functions instead of parameters: a bound value becomes the result of
  /// the call whose context ``statement`` is.
  init(resultsIn format: StorageFormat) {
    engine = nil
    self.format = .engine(format.dateFormat)
    current = OpaquePointer(memory)
  }

  /// Binds a value to a statement of another engine, or gives it to SQLite as a result.
  @inline(__always)
  func bindInEngine(_ value: EngineValue, at index: Int) throws {
    guard let engine else { return setResult(value) }
    try engine.bind(value, at: index)
  }

  private func setResult(_ value: EngineValue) {
    switch value.storageClass {
    case .integer: sqlite3_result_int64(statement, value.integer)
    case .real: sqlite3_result_double(statement, value.real)
    case .text:
      // A nil pointer would turn an empty text into NULL.
      larder_result_text(
        statement, value.bytes.baseAddress ?? UnsafeRawPointer(memory), UInt64(value.bytes.count))
    case .blob where value.bytes.isEmpty: sqlite3_result_zeroblob(statement, 0)
    case .blob: larder_result_blob(statement, value.bytes.baseAddress, UInt64(value.bytes.count))
    case .null: sqlite3_result_null(statement)
    }
  }

  /// Steps to another engine's next row if it is in memory. Returns whether it is.
  @inline(__always)
  func stepsInEngine() -> Bool { engine?.stepInMemory() ?? false }

  @inlinable
  package var isEngine: Bool { format.isEngine }

  /// The statement has to be finalized before its arena is freed.
  deinit { memory.deallocate() }

  /// Makes room for another set of values. The statement must not be running.
  @inlinable
  func rewind() {
    if _slowPath(wanted > capacity) { grow() }
    used = 0
    wanted = 0
  }

  /// Clears the bindings if SQLite keeps copies of large values.
  package func releaseCopies() {
    if _slowPath(wanted > capacity) { sqlite3_clear_bindings(statement) }
  }

  /// The flag in ``wanted`` that a table is bound. It has ``releaseCopies()`` and ``rewind()`` clear the
  /// table as they clear large values, without another test for statements that have none.
  static let tableMark = 1 << 62

  /// Binds rows as a table. They are retained until the bindings are cleared or replaced. Throws
  /// ``UnsupportedByEngine`` on another engine.
  func bindTable(
    _ rows: AnyObject, at index: Int32,
    release: @convention(c) (UnsafeMutableRawPointer?) -> Void
  ) throws {
    guard !isEngine else {
      throw UnsupportedByEngine(engine: "the engine", feature: "tables bound to parameters")
    }
    wanted |= Self.tableMark
    // SQLite releases the rows even if this call fails.
    let code = larder_bind_table(statement, index, Unmanaged.passRetained(rows).toOpaque(), release)
    guard code == SQLITE_OK else { throw ParameterBinder(arena: self, index: index).failure(code) }
  }

  @usableFromInline
  func grow() {
    if wanted >= Self.tableMark {
      sqlite3_clear_bindings(statement)
      wanted &= ~Self.tableMark
    }
    guard wanted > capacity, capacity < Self.largestCapacity else { return }
    // No binding may still point into the memory that is freed.
    sqlite3_clear_bindings(statement)
    while capacity < wanted && capacity < Self.largestCapacity { capacity *= 2 }
    memory.deallocate()
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  /// A copy of the bytes that stays until the next ``rewind()``, or nil when there is no room.
  @inlinable
  func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
    wanted &+= bytes.count
    guard bytes.count <= capacity &- used else { return nil }
    let copy = memory + used
    if let source = bytes.baseAddress { memcpy(copy, source, bytes.count) }
    used &+= bytes.count
    return copy
  }

  @inlinable
  func bindText(_ text: LentBytes, at index: Int32) -> Int32 {
    if let copy = keep(UnsafeRawBufferPointer(text)) {
      return larder_bind_text_static(statement, index, copy, UInt64(text.count))
    }
    return larder_bind_text_transient(statement, index, text.baseAddress, UInt64(text.count))
  }

  /// Binds the String at an address, without retaining its storage: that took a tenth of the time of a record's
  /// texts.
  ///
  /// Safety: the copy of the String's bits owns nothing, and lasts as long as the call. `withUTF8` would replace
  /// only a String that isn't contiguous.
  @inlinable
  package func bindText(of text: UnsafeRawPointer, at index: Int32) -> Int32 {
    typealias Bits = (UInt64, UInt64)
    let text = text.assumingMemoryBound(to: String.self)
    guard MemoryLayout<Bits>.size == MemoryLayout<String>.size, text.pointee.isContiguousUTF8 else {
      return text.pointee.withBytes { bindText($0, at: index) }
    }
    var bits = UnsafeRawPointer(text).load(as: Bits.self)
    return withUnsafeMutablePointer(to: &bits) {
      $0.withMemoryRebound(to: String.self, capacity: 1) { lent in
        lent.pointee.withUTF8 { bindText($0, at: index) }
      }
    }
  }

  @inlinable
  func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
    // A nil pointer would bind NULL; the arena's pointer never is nil.
    if let copy = keep(bytes) {
      return larder_bind_blob_static(statement, index, copy, UInt64(bytes.count))
    }
    return larder_bind_blob_transient(statement, index, bytes.baseAddress, UInt64(bytes.count))
  }
}
