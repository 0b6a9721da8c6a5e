import Foundation
import Testing

/// The models of a job queue on the page Models of the documentation, whose code `Tests/documentation/run` compiles
/// and runs.
@Suite("The six models of a job queue")
struct JobQueueTests {
  @Test("They have 11, 4, 5, 4, 2 and 2 properties, and take 60 lines at most")
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
