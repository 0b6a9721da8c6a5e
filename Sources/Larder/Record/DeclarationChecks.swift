import LarderSQLite
import Synchronization

// What a declaration is checked for while its table is used: the initializer by the records that are read and
// written, views and constant keys by what is to be done.

extension TableCore {
  /// Looks at a record that is read or written. Throws once its initializer is found to be wrong.
  @usableFromInline
  func prove(_ record: UnsafeRawPointer) throws {
    if let exchanged = initializer.exchangedColumns(record) {
      problem.set(problem(ofExchanged: exchanged))
      state.bitwiseOr(DeclarationState.wrong.rawValue, ordering: .releasing)
      try checkDeclaration()
    }
    if initializer.isDone {
      state.bitwiseAnd(~DeclarationState.unproven.rawValue, ordering: .relaxed)
    }
  }

  /// What is said of two columns of which the initializer gives each the other's value.
  func problem(ofExchanged columns: (Int, Int)) -> String {
    let (name, other) = (self.columns[columns.0].name, self.columns[columns.1].name)
    return """
      its initializer takes “\(other)” where it is given “\(name)”, so that records of \(recordType) would \
      come back with their values exchanged: give Table an initializer, or a closure, whose parameters stand \
      in the order of the columns
      """
  }

  /// Throws where a record can't be written, as far as the declaration tells.
  @usableFromInline
  func checkWriting(_ record: UnsafeRawPointer) throws {
    try checkWritable()
    if isInState(.unproven) { try prove(record) }
  }

  /// Throws where the declaration is wrong, or that of a view.
  @usableFromInline
  func checkWritable() throws {
    try check()
    if isInState(.view) { throw RecordError.view(table: name) }
  }

  /// Throws where the declaration is wrong, or that of a view, or there is no key to tell rows by.
  @usableFromInline
  func checkChangesRows() throws {
    if isInState([.wrong, .untried, .view]) { try checkWritable() }
    try checkHasKey()
  }

  /// Throws where a record that has no key can't be given the one that the database chooses.
  func checkKeyCanBeSet(_ record: UnsafeRawPointer, _ db: Database) throws {
    guard let rowIDColumn, try layout.value(of: rowIDColumn, in: record, db.dateFormat) == .null
    else { return }
    throw RecordError.declaration(
      table: name,
      problem: """
        its key “\(columns[rowIDColumn].name)” is a constant, which can't be set once the database has \
        chosen it: use inserted(_:), which returns the record with its key, or make it a variable
        """)
  }
}

extension Table {
  /// Looks at a record that was read.
  @usableFromInline
  func prove(_ record: R) throws { try withUnsafePointer(to: record) { try core.prove($0) } }
}
