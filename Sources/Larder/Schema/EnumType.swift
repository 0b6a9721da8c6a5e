import LarderSQLite

extension Database {
  /// Creates an enumeration type of a server, with the raw values of a Swift type in their order. If the type
  /// is there already, the values that it lacks are added where they belong; other values stay, since a server
  /// can't remove any.
  ///
  /// ```swift
  /// enum Mood: String, CaseIterable, DatabaseValueConvertible { case sad, fair, happy }
  ///
  /// Migration("mood") { db in
  ///   try db.create(enum: "mood", of: Mood.self)
  ///   try Person.table.create(db)   // let mood = Column("mood", \Person.mood, .sqlType(postgres: "mood"))
  /// }
  /// ```
  ///
  /// SQLite has no such types: nothing happens there, and the column holds the raw values as text. A server
  /// puts them in the order of the type, and SQLite in that of texts. A value that was added can be used once
  /// the transaction has ended. Throws ``LarderSQLite/DatabaseError``.
  ///
  /// See [Enumerated Types](https://www.postgresql.org/docs/current/datatype-enum.html).
  public func create<Value: CaseIterable & RawRepresentable<String>>(
    enum name: String, of type: Value.Type
  ) throws {
    guard let definitions else { return try connection.check() }
    try definitions.createEnum(name, Value.allCases.map(\.rawValue), in: self)
  }
}
