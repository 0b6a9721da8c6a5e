import Larder
import TestSupport
import Testing

@Suite("The example program")
struct ExampleTests {
  @Test("The example program declares a record, creates its table and stores a city")
  func runs() async throws {
    let folder = try ScratchFolder()
    let run = try await ChildProcess.run(
      ChildProcess.built("test-process"), ["example"], in: folder.path)
    #expect(run.status == 0, "\(run.output)")
    let db = try Database(path: folder.file("cities.db"))
    #expect(try City.fetchAll(db) == [City(id: 1, name: "北京市", population: 21_893_095)])
    #expect(try City.table.differences(db).isEmpty)
  }
}
