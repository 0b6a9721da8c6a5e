import Foundation
import Larder
import Testing

@Suite("The example")
struct ExampleTests {
  /// On a thread that ends: Foundation gives the thread a run loop with weak references to it,
  /// which the address sanitizer takes for a leak as long as the thread lives.
  private func run(in folder: URL) async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            let process = Process()
            process.executableURL =
              tests.deletingLastPathComponent().appendingPathComponent("example")
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
          })
      }
    }
  }

  @Test("declares a record, makes its table, and keeps a city in it")
  func runs() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("larder-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(try await run(in: folder) == 0)
    let db = try Database(path: folder.appendingPathComponent("cities.db").path)
    #expect(try City.fetchAll(db) == [City(id: 1, name: "北京市", population: 21_893_095)])
    #expect(try City.table.differences(db).isEmpty)
  }
}
