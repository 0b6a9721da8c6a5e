import Foundation
import TestSupport
import Testing

@Suite("The macro plugin as a process")
struct PluginProcessTests {
  /// Runs the plugin with this input. Returns its exit status, answers and standard error.
  func run(_ input: Data) async throws -> (status: Int32, answers: Data, errors: String) {
    let folder = try ScratchFolder()
    try input.write(to: URL(fileURLWithPath: folder.file("input")))
    let command =
      "ulimit -v 4000000; exec \"$0\" <'\(folder.file("input"))' >'\(folder.file("output"))'"
    let (status, errors) = try await ChildProcess.run(
      "/bin/sh", ["-c", command, ChildProcess.built("LarderMacrosPlugin-tool")])
    return (status, try ScratchFolder.contents(of: folder.file("output")), errors)
  }

  func message(_ text: String, size: UInt64? = nil) -> Data {
    withUnsafeBytes(of: (size ?? UInt64(text.utf8.count)).littleEndian) { Data($0) }
      + Data(text.utf8)
  }

  @Test("The plugin answers each message with one, and exits with status 0 at the end of input")
  func answers() async throws {
    let capability = message(#"{"getCapability":{}}"#)
    let answer = message(
      #"{"getCapabilityResult":{"capability":{"features":[],"protocolVersion":7}}}"#)
    for end in [Data(), message("")] {
      let ran = try await run(capability + capability + end)
      #expect(ran.status == 0)
      #expect(ran.answers == answer + answer)
      #expect(ran.errors == "")
    }
  }

  @Test("The plugin exits with an error for input that is truncated, too large or not JSON")
  func wrongInput() async throws {
    for (input, error) in [
      (Data([1, 2, 3]), "the size of a message is truncated"),
      (message("{}", size: 3), "a message is truncated"),
      (message("{}", size: 60 << 20), "a message is truncated"),
      (message("{}", size: 1 << 40), "a message of 1099511627776 bytes is too large"),
      (message("{}", size: .max), "a message of 18446744073709551615 bytes is too large"),
      (message("Hello!"), "the message isn't JSON at byte 0"),
      (message(String(repeating: "[", count: 1 << 20)), "the message is nested too deeply"),
      (message("\u{0}"), "the message isn't JSON at byte 0"),
    ] {
      let ran = try await run(input)
      #expect(ran.status == 1)
      #expect(ran.answers.isEmpty)
      #expect(ran.errors == "LarderMacrosPlugin: \(error)\n")
    }
  }

  @Test("The plugin never crashes or hangs for messages with randomly altered bytes")
  func randomInput() async throws {
    var generator = SeededGenerator(seed: 19)
    for _ in 0..<30 {
      var bytes = Array(message(#"{"expandAttachedMacro":{"macro":{"typeName":"RecordMacro"}}}"#))
      for _ in 0..<3 {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
          in: 0...255, using: &generator)
      }
      let ran = try await run(Data(bytes))
      #expect(ran.status == 0 || ran.status == 1)
    }
  }
}
