import Foundation
import TestSupport
import Testing

@Suite("Linking")
struct LinkingTests {
  @Test("A program that uses Larder without LarderPostgres doesn't link libpq")
  func larderAlone() async throws {
    let tests = URL(fileURLWithPath: ChildProcess.own).resolvingSymlinksInPath().path
    let own = try await ChildProcess.run("ldd", [tests])
    #expect(own.output.contains("libpq"))
    let other = try await ChildProcess.run("ldd", [ChildProcess.built("test-process")])
    #expect(other.status == 0)
    #expect(other.output.contains("sqlite3"))
    #expect(!other.output.contains("libpq"))
  }
}
