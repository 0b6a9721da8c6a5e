import Foundation
import Testing

/// The job queue's models on the documentation page Models. `Tests/documentation/run` compiles and runs
/// their code.
@Suite("The job queue's models in the documentation")
struct JobQueueTests {
  @Test("The six documented models of a job queue have 28 properties in at most 60 lines")
  func lines() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/Larder/Larder.docc/Models.md")
    let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
      .drop { $0 != "```swift" }.prefix { $0 != "```" }
    let models = lines.split { $0 == "}" }
      .filter { model in model.contains { $0.hasPrefix("@Record") } }
    #expect(
      models.map { $0.count { $0.contains(" var ") || $0.contains(" let ") } } == [
        11, 4, 5, 4, 2, 2,
      ])
    let first = try #require(lines.firstIndex { $0.hasPrefix("@Record") })
    let last = try #require(models.last?.endIndex)
    #expect(last - first < 60)
  }
}
