import Larder
import Testing

@testable import LarderTool

@Suite("The order in which larder copy copies tables")
struct CopyOrderTests {
  /// Tables, each with the names of those that it refers to.
  private func tables(_ references: [(String, [String])]) -> [CopiedTable] {
    references.map { name, others in
      var table = TableSchema(name: name)
      table.foreignKeys = others.map {
        ForeignKeySchema(
          columns: ["other"], referencedTable: $0, referencedColumns: [], onDelete: .noAction,
          onUpdate: .noAction, isDeferred: false)
      }
      return CopiedTable(asItIs: table)
    }
  }

  @Test("Tables come before those that refer to them, and else in their own order")
  func order() throws {
    let ordered = try tables([
      ("city", ["Country", "city"]), ("mayor", ["city", "gone"]), ("country", []), ("language", []),
      ("spoken", ["country", "language", "language"]),
    ]).inOrderOfReferences()
    #expect(ordered.map(\.name) == ["country", "language", "city", "spoken", "mayor"])
  }

  @Test("A cycle of references is broken at its first table")
  func cycle() throws {
    let ordered = try tables([
      ("c", ["a"]), ("a", ["b"]), ("b", ["a"]), ("d", []), ("e", ["c"]),
    ]).inOrderOfReferences()
    #expect(ordered.map(\.name) == ["d", "c", "e", "a", "b"])
  }

  @Test("Ordering a chain of 20,000 tables takes linear time", .timeLimit(.minutes(1)))
  func manyTables() throws {
    let count = 20_000
    let chain = tables(
      (0..<count).map { ("t\($0)", $0 + 1 < count ? ["t\($0 + 1)"] : []) })
    let ordered = try chain.inOrderOfReferences()
    #expect(ordered.map(\.name) == (0..<count).reversed().map { "t\($0)" })
  }
}
