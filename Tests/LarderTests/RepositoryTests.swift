import Foundation
import Testing

/// The repository's own files, read beside this one.
@Suite("The repository")
struct RepositoryTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The paths below the repository's folders, relative to it.
  private static func paths() throws -> [String] {
    try ["Sources", "Tests", "Sample"].flatMap { folder in
      let files = try FileManager.default.subpathsOfDirectory(
        atPath: root.appendingPathComponent(folder).path)
      return files.map { folder + "/" + $0 }
    }
  }

  private func repeated(_ texts: [String]) -> [String] {
    Dictionary(grouping: texts) { $0.lowercased() }.filter { $0.value.count > 1 }.keys.sorted()
  }

  @Test("No two paths differ only in case")
  func cases() throws {
    let paths = try Self.paths()
    #expect(paths.count > 1000)
    #expect(repeated(paths) == [])
  }

  @Test("No two modules of the package have names that differ only in case")
  func modules() throws {
    let text = try String(
      contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let target =
      /\.(?:target|executableTarget|testTarget|macro|systemLibrary)\(\s*name: "(\w[\w-]*)"/
    let names = text.matches(of: target).map { String($0.output.1) }
    #expect(names.contains("Larder") && names.contains("LarderTool"))
    #expect(repeated(names) == [])
  }

  @Test("No folder of Sources has more than 25 Swift files, and no two of the files have one name")
  func folders() throws {
    let files = try Self.paths().filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
    let folders = Dictionary(grouping: files) { ($0 as NSString).deletingLastPathComponent }
    #expect(folders.filter { $0.value.count > 25 }.keys.sorted() == [])
    // SwiftPM asks for the name main.swift.
    let names = files.map { ($0 as NSString).lastPathComponent }.filter { $0 != "main.swift" }
    #expect(repeated(names) == [])
  }
}
