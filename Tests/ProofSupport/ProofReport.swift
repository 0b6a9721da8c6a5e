import Foundation
import Larder

/// A result in the forms in which it is published.
package struct ProofReport: Codable {
  package var row: String
  package var number: Int
  package var unit: String
  package var tried: Int
  package var failed: Int
  package var seconds: Double
  package var seed: UInt64
  package var skipped: String?
  package var details: [String]?
  package var cores: Int
  package var system: String
  package var sqlite: String
  /// Added by `Tests/prove`.
  package var date: String?
  package var commit: String?

  package init(
    _ row: any ProofRow.Type, _ result: ProofResult, _ options: ProofOptions, seconds: Double
  ) {
    self.row = row.name
    number = row.number
    unit = row.unit
    tried = result.tried
    failed = result.failures.count
    self.seconds = (seconds * 10).rounded() / 10
    seed = options.seed
    skipped = result.skipped
    details = result.details.isEmpty ? nil : result.details
    cores = ProcessInfo.processInfo.activeProcessorCount
    system = Self.systemName
    sqlite = SQLiteLibrary.version
  }

  package var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// The distribution's name, without what tells one machine from another.
  private static var systemName: String {
    let text = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
    let prefix = "PRETTY_NAME="
    let line = text.split(separator: "\n").first { $0.hasPrefix(prefix) }
    return line.map { $0.dropFirst(prefix.count).filter { $0 != "\"" } } ?? "Linux"
  }
}
