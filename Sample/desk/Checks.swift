import Foundation
import LarderMacros
import Synchronization

/// Collects what is wrong, and says how long each part took.
final class Checks: Sendable {
  private let problems = Mutex<[String]>([])
  var isFine: Bool { problems.withLock { $0.isEmpty } }

  func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: UInt = #line) {
    guard !condition else { return }
    let text = "line \(line): \(what())"
    problems.withLock { $0.append(text) }
    say("  WRONG \(text)")
  }

  /// Expects a closure to throw an error of which another closure says that it is right.
  func expectError<T>(
    _ what: String, line: UInt = #line, _ isRight: (any Error) -> Bool, _ body: () async throws -> T
  ) async {
    do {
      let value = try await body()
      expect(false, "\(what): no error, but \(value)", line: line)
    } catch {
      expect(isRight(error), "\(what): \(error)", line: line)
    }
  }

  func part(_ name: String, _ body: () async throws -> String) async {
    let start = ContinuousClock.now
    do {
      let text = try await body()
      let time = (ContinuousClock.now - start) / .milliseconds(1)
      say("\(name): \(text) (\(Int(time)) ms)")
    } catch {
      expect(false, "\(name): \(error)")
    }
  }
}

/// Another process of this program.
final class Child {
  let process = Process()
  private let output = Pipe()
  private var text = ""

  init(_ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
  }

  /// Waits for a line that begins so; nil if the process ends before.
  func line(_ prefix: String) -> String? {
    while true {
      if let line = text.split(separator: "\n").last(where: { $0.hasPrefix(prefix) }) {
        return String(line)
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { return nil }
      text += String(decoding: data, as: UTF8.self)
    }
  }

  func end(_ signal: Int32) -> (status: Int32, output: String) {
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return (process.terminationStatus, text)
  }
}

/// Writes a line at once, also into a pipe.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
