import Foundation
import LarderPostgres
import LarderSQLite

/// What a proof has found, as a line to read and, for `Tests/prove`, as JSON like that of `Tests/Proof`.
struct Figures: Encodable {
  var row: String
  var number = 18
  var unit: String
  var tried = 0
  var failed = 0
  var seconds = 0.0
  var seed: Int
  var details: [String] = []
  var cores = ProcessInfo.processInfo.activeProcessorCount
  var system = Self.systemName
  var sqlite = SQLiteLibrary.version

  /// Whether standard output is for JSON alone.
  static let haveOutput = Lock(false)

  private var isJSON = false
  private let start = ContinuousClock.now

  private enum CodingKeys: CodingKey {
    case row, number, unit, tried, failed, seconds, seed, details, cores, system, sqlite
  }

  init(_ row: String, unit: String, _ options: Options) {
    self.row = row
    self.unit = unit
    seed = Int(options.text("seed")) ?? 1
    isJSON = options.has("json")
    if isJSON { Self.haveOutput.withLock { $0 = true } }
  }

  /// Writes them. Throws where something has failed.
  mutating func end() throws {
    seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
    report("\(row): \(tried) \(unit), \(failed) failed, \(details.joined(separator: ", "))")
    if isJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
    }
    if failed > 0 { throw Wrong("\(failed) failures, which are told above") }
  }

  private static var systemName: String {
    let text = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
    let prefix = "PRETTY_NAME="
    let line = text.split(separator: "\n").first { $0.hasPrefix(prefix) }
    return line.map { $0.dropFirst(prefix.count).filter { $0 != "\"" } } ?? "Linux"
  }
}

extension Duration {
  var inMilliseconds: String { String(format: "%.2f ms", self / .milliseconds(1)) }
  var inSeconds: String { String(format: "%.1f s", self / .seconds(1)) }
}

extension [Duration] {
  var middle: Duration { isEmpty ? .zero : sorted()[count / 2] }
  var median: String { middle.inMilliseconds }
  var longest: String { self.max()?.inMilliseconds ?? "–" }
}
