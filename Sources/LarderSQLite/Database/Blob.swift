import CSQLite

/// Incremental I/O: one value of one row, a blob or a text, that is read and written in pieces without being in
/// memory as a whole.
///
/// ```swift
/// try queue.inTransaction { db in
///   try db.executeUpdate("INSERT INTO file (id, content) VALUES (1, zeroblob(\(size)))")
///   let blob = try db.openBlob("file", column: "content", row: 1, isWritable: true)
///   var offset = 0
///   while let piece = source.next() {
///     try blob.write(piece, at: offset)
///     offset += piece.count
///   }
/// }
/// ```
///
/// The value's size is fixed: `zeroblob(n)` makes one of n bytes to be filled. A text is read as the bytes that
/// the file holds, in its encoding. Offsets and sizes are bytes.
///
/// A blob is valid only in the scope that opened it, and only until its row changes by anything but writing
/// through it. Everything throws `ResultCode.abort` then, and it has to be opened again. See
/// [Incremental I/O](https://www.sqlite.org/c3ref/blob_open.html).
public final class Blob {
  private let database: Database
  private let handle: BlobHandle
  private let isWritable: Bool
  /// Whether the blob was opened for reading only.
  public var isReadOnly: Bool { !isWritable }

  fileprivate init(_ database: Database, _ handle: BlobHandle, isWritable: Bool) {
    self.database = database
    self.handle = handle
    self.isWritable = isWritable
    database.openBlobs.append(handle)
  }

  deinit { close() }

  /// Closes the blob. Reading and writing throw from now on. Closing again does nothing.
  public func close() {
    guard handle.pointer != nil, database.connection.isAccessible else { return }
    handle.close()
    database.openBlobs.removeAll { $0 === handle }
  }

  /// The size in bytes; 0 once the blob is closed.
  public var count: Int {
    database.connection.isAccessible && handle.pointer != nil ? handle.size : 0
  }

  /// Reads `count` bytes from an offset on, or all that are left. Throws `ResultCode.range` if some of them
  /// are outside of the blob.
  public func read(at offset: Int = 0, count: Int? = nil) throws -> [UInt8] {
    let wanted = count ?? max(0, self.count - max(0, offset))
    _ = try range(offset, wanted)
    return try Array(unsafeUninitializedCapacity: wanted) { buffer, read in
      try self.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      read = wanted
    }
  }

  /// Fills a buffer with the bytes from an offset on. Throws as ``read(at:count:)`` does.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    let range = try range(offset, buffer.count)
    guard let start = buffer.baseAddress, range.count > 0 else { return try check() }
    try call { sqlite3_blob_read($0, start, range.count, range.offset) }
  }

  /// Writes bytes at an offset. Throws `ResultCode.range`, and writes nothing, if they would go beyond the
  /// end; `ResultCode.readOnly` if the blob wasn't opened for writing; and `ResultCode.misuse` outside of a
  /// transaction.
  ///
  /// Indexes, triggers and foreign keys don't notice the change. Feeds of the table (`changes(of:)`) report
  /// that something unknown was changed.
  public func write(_ bytes: some Sequence<UInt8>, at offset: Int) throws {
    let isWritten: Void? = try bytes.withContiguousStorageIfAvailable {
      try write(UnsafeRawBufferPointer($0), at: offset)
    }
    if isWritten == nil { try Array(bytes).withUnsafeBytes { try write($0, at: offset) } }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    guard isWritable else {
      throw DatabaseError(.readOnly, "the blob was opened for reading; use isWritable")
    }
    let range = try range(offset, bytes.count)
    try database.checkBlobWriting()
    guard let start = bytes.baseAddress, range.count > 0 else { return }
    database.connection.follower?.willChangeUnseen()
    try call { sqlite3_blob_write($0, start, range.count, range.offset) }
  }

  /// Moves to the same column of another row, which costs less than opening another blob. Throws as
  /// ``Database/openBlob(_:column:row:database:isWritable:)`` does; after an error every call throws.
  public func reopen(row: Int64) throws {
    try call { sqlite3_blob_reopen($0, row) }
    handle.measure()
    handle.place.row = row
  }

  private func check() throws {
    try database.connection.check()
    guard handle.pointer != nil else { throw DatabaseError(.misuse, "the blob is closed") }
  }

  private func range(_ offset: Int, _ count: Int) throws -> (offset: Int32, count: Int32) {
    try check()
    let end = offset.addingReportingOverflow(count)
    guard offset >= 0, count >= 0, !end.overflow, end.partialValue <= self.count else {
      throw DatabaseError(
        .range, "there aren't \(count) bytes at offset \(offset): the blob has \(self.count)")
    }
    return (Int32(offset), Int32(count))
  }

  private func call(_ body: (OpaquePointer) -> Int32) throws {
    try check()
    guard let pointer = handle.pointer else { return }
    let connection = database.connection
    let code = connection.whileCalling { body(pointer) }
    guard code != SQLITE_OK else { return }
    throw connection.error(code) {
      code & 0xff == SQLITE_ABORT ? "the row has changed or was deleted: open the blob again" : nil
    }
  }
}

@available(*, unavailable)
extension Blob: Sendable {}

/// SQLite's handle of a blob. The pointer is sound: it is nil once the blob is closed, which happens on the
/// connection's thread, at the latest when the scope ends or the connection is closed.
final class BlobHandle {
  private(set) var pointer: OpaquePointer?
  /// The size in bytes, kept because SQLite doesn't tell it any more once the row has changed.
  private(set) var size = 0
  /// The blob's table, column and row, for errors that name them.
  var place: Place

  struct Place {
    let table: String
    let column: String
    var row: Int64
    let isWritable: Bool
  }

  init(_ pointer: OpaquePointer, _ place: Place) {
    self.pointer = pointer
    self.place = place
    measure()
  }

  func measure() { size = Int(sqlite3_blob_bytes(pointer)) }

  func close() { sqlite3_blob_close(pointer.take()) }
}

extension Database {
  /// Opens the value of a column in one row for reading and, if asked for, writing in pieces.
  ///
  /// - Parameters:
  ///   - table: a table with row ids, in `main` or the database that is named.
  ///   - column: a column; for writing, one that no index and no foreign key uses.
  ///   - row: the row id.
  ///   - database: `main`, `temp`, or the name of an attached database.
  ///   - isWritable: whether it can be written as well, in a transaction.
  ///
  /// Throws `ResultCode.error` if there is no such table, column or row, or the value is neither a blob nor a
  /// text; `ResultCode.readOnly` for writing where nothing can be written, `ResultCode.misuse` for writing
  /// outside of a transaction, `ResultCode.authorization` if ``authorizer`` doesn't allow it, and
  /// ``UnsupportedByEngine`` if the engine isn't SQLite.
  public func openBlob(
    _ table: String, column: String, row: Int64, database: String = "main", isWritable: Bool = false
  ) throws -> Blob {
    let handle = try connection.sqlite()
    guard ![table, column, database].contains(where: { $0.utf8.contains(0) }) else {
      throw DatabaseError(.error, "a name contains NUL")
    }
    if isWritable { try checkBlobWriting() }
    guard connection.authorizer.allowsBlob(of: table, isWritable: isWritable) else {
      throw DatabaseError(.authorization, "the authorizer doesn't allow the blob of \(table)")
    }
    // SQLite doesn't report what a blob reads, so the recorder is told of an unknown read.
    connection.recorder?.willRun(nil, writes: false)
    var pointer: OpaquePointer?
    let code = connection.whileCalling {
      connection.authorizer.whilePaused {
        sqlite3_blob_open(handle, database, table, column, row, isWritable ? 1 : 0, &pointer)
      }
    }
    guard code == SQLITE_OK, let pointer else { throw connection.error(code) }
    let place = BlobHandle.Place(table: table, column: column, row: row, isWritable: isWritable)
    return Blob(self, BlobHandle(pointer, place), isWritable: isWritable)
  }

  /// Throws outside of a transaction: a blob would then commit by itself when closed, unseen by observers.
  fileprivate func checkBlobWriting() throws {
    try connection.checkWritable()
    guard hasTransaction else {
      throw DatabaseError(.misuse, "a blob can only be written in a transaction; use inTransaction")
    }
  }
}
