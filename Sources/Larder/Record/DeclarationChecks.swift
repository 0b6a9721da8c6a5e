import LarderSQLite
import Synchronization

// Checks of a declaration while its table is used. Records that are read and written test the initializer.

extension TableCore {
  /// Tests the initializer with a record that is read or written. Throws once it is found to exchange values.
  @usableFromInline
  func checkInitializer(_ record: UnsafeRawPointer) throws {
    if let exchanged = initializer.exchangedColumns(record) {
      problem.set(problem(ofExchanged: exchanged))
      state.bitwiseOr(DeclarationState.wrong.rawValue, ordering: .releasing)
      try checkDeclaration()
    }
    if initializer.isDone {
      state.bitwiseAnd(~DeclarationState.uncheckedInitializer.rawValue, ordering: .relaxed)
    }
  }

  /// The error text for an initializer that exchanges the values of two columns.
  func problem(ofExchanged columns: (Int, Int)) -> String {
    let (name, other) = (self.columns[columns.0].name, self.columns[columns.1].name)
    return """
      its initializer takes “\(other)” where it is given “\(name)”, so the values of \(recordType) would be \
      exchanged: give Table an initializer, or a closure, whose parameters are in the order of the columns
      """
  }

  /// Throws if the declaration alone shows that a record can't be written.
  @usableFromInline
  func checkWriting(_ record: UnsafeRawPointer) throws {
    try checkWritable()
    if isInState(.uncheckedInitializer) { try checkInitializer(record) }
  }

  /// Throws if the declaration is wrong, or that of a view.
  @usableFromInline
  func checkWritable() throws {
    try check()
    if isInState(.view) { throw RecordError.view(table: name) }
  }

  /// Throws if the declaration is wrong, or isn't that of a whole table.
  func checkIsWhole() throws {
    try checkWritable()
    guard isInState(.part) else { return }
    throw RecordError.declaration(
      table: name,
      problem: """
        \(recordType) has only some of its columns: insert records, and create or compare the table, by the \
        record that has all of them
        """)
  }

  /// Throws for a record that can't be inserted, because it isn't whole or can't take its key.
  func checkInsertion(_ record: UnsafeRawPointer, _ db: Database) throws {
    try checkIsWhole()
    if isInState(.constantKey) { try checkKeyCanBeSet(record, db) }
  }

  /// Throws if the declaration is wrong or that of a view, or if it has no key to find rows by.
  @usableFromInline
  func checkChangesRows() throws {
    if _slowPath(isInState([.wrong, .untried, .view])) { try checkWritable() }
    try checkHasKey()
  }

  /// Throws for a record whose key is nil, since its property can't be set to the key that is chosen.
  func checkKeyCanBeSet(_ record: UnsafeRawPointer, _ db: Database) throws {
    guard let rowIDColumn, try layout.value(of: rowIDColumn, in: record, db.dateFormat) == .null
    else { return }
    throw RecordError.declaration(
      table: name,
      problem: """
        its key “\(columns[rowIDColumn].name)” is a constant, so it can't be set to the key that the \
        database chooses: use inserted(_:), which returns the record with its key, or make it a variable
        """)
  }
}

extension Table {
  @usableFromInline
  func checkInitializer(_ record: R) throws {
    try withUnsafePointer(to: record) { try core.checkInitializer($0) }
  }
}
