import Foundation
import LarderSQLite

/// SQLite's own command-line shell, whose output tells what rows a query has without Larder.
struct SQLiteShell {
  let folder: String

  /// What the shell can't do.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs a script on the folder's database, and returns what it prints.
  func run(_ script: String) throws -> [UInt8] {
    let (input, output, errors) = (folder + "/script", folder + "/output", folder + "/errors")
    try Data(script.utf8).write(to: URL(fileURLWithPath: input))
    for path in [output, errors] where !FileManager.default.createFile(atPath: path, contents: nil)
    {
      throw Failure(description: "can't write “\(path)”")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-batch", "-bail", folder + "/database"]
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
    try process.run()
    process.waitUntilExit()
    let complaints = String(decoding: try contents(errors), as: UTF8.self)
    guard process.terminationStatus == 0, complaints.isEmpty else {
      throw Failure(description: "sqlite3 ended with \(process.terminationStatus): \(complaints)")
    }
    return [UInt8](try contents(output))
  }

  /// What is in a file. `Data(contentsOf:)` leaks 4 KiB for each empty one, which the address
  /// sanitizer reports.
  private func contents(_ path: String) throws -> Data {
    try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data()
  }

  /// The rows of each query, by one process for all.
  func rows(_ queries: [String]) throws -> [[[DatabaseValue]]] {
    let script = queries.map { "\($0);\n.print #\n" }.joined()
    var output = ShellOutput(bytes: try run(".mode quote\n" + script))
    return try queries.map { _ in try output.rows() }
  }
}

/// Values as the shell's mode `quote` writes them.
private struct ShellOutput {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// The rows up to the line that ends a query.
  mutating func rows() throws -> [[DatabaseValue]] {
    var rows: [[DatabaseValue]] = []
    while let byte = next {
      if byte == UInt8(ascii: "#") {
        position += 2
        return rows
      }
      var row = [try value()]
      while next == UInt8(ascii: ",") {
        position += 1
        row.append(try value())
      }
      guard next == UInt8(ascii: "\n") else { throw unreadable }
      position += 1
      rows.append(row)
    }
    throw unreadable
  }

  private mutating func value() throws -> DatabaseValue {
    guard let byte = next else { throw unreadable }
    switch byte {
    case UInt8(ascii: "'"): return .text(String(decoding: quoted(), as: UTF8.self))
    case UInt8(ascii: "X"):
      position += 1
      let digits = quoted()
      return .blob(
        stride(from: 0, to: digits.count, by: 2).compactMap {
          UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        })
    default:
      let start = position
      while let byte = next, byte != UInt8(ascii: ","), byte != UInt8(ascii: "\n") { position += 1 }
      let word = String(decoding: bytes[start..<position], as: UTF8.self)
      if word == "NULL" { return .null }
      if let number = Int64(word) { return .integer(number) }
      if word == "Inf" || word == "-Inf" { return .real(word == "Inf" ? .infinity : -.infinity) }
      guard let number = Double(word) else { throw unreadable }
      return .real(number)
    }
  }

  private mutating func quoted() -> [UInt8] {
    var text: [UInt8] = []
    position += 1
    while let byte = next {
      position += 1
      if byte == UInt8(ascii: "'") {
        guard next == byte else { break }
        position += 1
      }
      text.append(byte)
    }
    return text
  }

  private var unreadable: SQLiteShell.Failure {
    let start = max(0, position - 80)
    return SQLiteShell.Failure(
      description: "unreadable at \(position): "
        + String(decoding: bytes[start..<min(bytes.count, position + 80)], as: UTF8.self))
  }
}
