import Larder

/// A record over a table that each test creates. By its declaration SQLite chooses the key.
struct FoundPerson: Record, Equatable {
  var id: Int64?
  var name: String
  var age: Int?

  struct Columns: Sendable {
    let id = Column("id", \FoundPerson.id, .primaryKey)
    let name = Column("name", \FoundPerson.name)
    let age = Column("age", \FoundPerson.age)
  }
  static let columns = Columns()
  static let table = Table("person", FoundPerson.init, columns.id, columns.name, columns.age)
}

/// The problem in the declaration error that the closure throws.
func declarationProblem<T>(_ body: () throws -> T) -> String? {
  switch failure(RecordError.self, body) {
  case .declaration(_, let problem), .batch(_, _, RecordError.declaration(_, let problem)): problem
  default: nil
  }
}
