import Foundation
import LarderSQLite
import TestSupport

/// SQLite's own command-line shell, whose output tells what rows a query has without Larder.
package struct SQLiteShell {
  private let folder: String

  package init(folder: String) { self.folder = folder }

  /// What the shell can't do.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs a script on the folder's database, and returns what it prints.
  package func run(_ script: String) throws -> [UInt8] {
    let (input, output, errors) = (folder + "/script", folder + "/output", folder + "/errors")
    try Data(script.utf8).write(to: URL(fileURLWithPath: input))
    let process = try ChildProcess(
      "sqlite3", ["-batch", "-bail", folder + "/database"], input: .file(input),
      output: .file(output), errors: .file(errors))
    let status = process.end()
    let complaints = String(decoding: try ScratchFolder.contents(of: errors), as: UTF8.self)
    guard status == 0, complaints.isEmpty else {
      throw Failure(description: "sqlite3 ended with \(status): \(complaints)")
    }
    return [UInt8](try ScratchFolder.contents(of: output))
  }

  /// The rows of each query, by one process for all.
  package func rows(_ queries: [String]) throws -> [[[DatabaseValue]]] {
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
