import Foundation
import Larder
import ProofSupport

/// Random JSON, read as Codable types by Larder's own scanner and by Foundation's decoder: what the scanner is sure of,
/// Foundation reads as well, and as the same value.
enum JSONReading: ProofRow {
  static let name = "json"
  static let number = 8
  static let unit = "documents"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let count = options.count ?? 10_000
    var sure = 0
    let subjects = subjects
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      var sampler = Sampler(seed: seed)
      let subject = subjects[Int(sampler.random.next() % UInt64(subjects.count))]
      var writer = JSONSample(sampler: sampler)
      writer.write(subject.shape)
      writer.spoil()
      switch subject.compare(writer.text) {
      case .same: sure += 1
      case .unsure: break
      case .different(let own, let foundation):
        result.failures.append(
          "seed \(seed): \(subject.type) of \(writer.text): \(own), Foundation reads \(foundation)")
      }
      result.tried += 1
      if result.failures.count > 20 { break }
    }
    result.details = ["\(sure * 100 / max(1, result.tried)) % by the scanner itself"]
    return result
  }

  enum Comparison {
    case same, unsure
    case different(String, String)
  }

  /// A type, and what its JSON looks like.
  struct Subject {
    let type: String
    let shape: JSONShape
    let compare: (String) -> Comparison

    init<Value: Decodable & Equatable>(_ type: Value.Type, _ shape: JSONShape) {
      self.type = "\(type)"
      self.shape = shape
      compare = { text in
        guard let own = try? JSONValueReader.value(type, of: text) else { return .unsure }
        do {
          let other = try JSONValueReader.foundation.decode(type, from: Data(text.utf8))
          // A zero's sign counts, too, but not the order of a dictionary or a set.
          return own == other && letters(own) == letters(other)
            ? .same : .different("\(own)", "\(other)")
        } catch {
          return .different("\(own)", "\(error)")
        }
      }
    }
  }

  private static func letters(_ value: Any) -> [Unicode.Scalar] {
    "\(value)".unicodeScalars.sorted()
  }

  private static var subjects: [Subject] {
    [
      Subject([String].self, .list(.text)), Subject([Int].self, .list(.number)),
      Subject([Int64?].self, .list(.number)), Subject([Double].self, .list(.number)),
      Subject([Float].self, .list(.number)), Subject([Bool].self, .list(.bool)),
      Subject([UInt8].self, .list(.number)), Subject([Int128].self, .list(.number)),
      Subject([UInt128].self, .list(.number)), Subject([UInt64?].self, .list(.number)),
      Subject([Int16].self, .list(.number)), Subject(Numbers.self, .list(.number)),
      Subject([Decimal].self, .list(.number)), Subject([[String]].self, .list(.list(.text))),
      Subject([String: Int].self, .dictionary(.number)),
      Subject([String: [String]].self, .dictionary(.list(.text))),
      Subject([String: String].self, .dictionary(.text)),
      Subject([String: Bool].self, .dictionary(.bool)),
      Subject([String: Double].self, .dictionary(.number)),
      Subject([Int: String].self, .dictionary(.text)), Subject(Set<String>.self, .list(.text)),
      Subject([Level].self, .list(.word(["low", "high", "other"]))),
      Subject(Everything.self, Everything.shape),
      Subject([Everything?].self, .list(Everything.shape)),
      Subject(
        Choice.self,
        .object([("number", .object([("_0", .number)])), ("text", .object([("value", .text)]))])),
      Subject([Lossy].self, .list(.any)), Subject(Lossy.self, .any), Subject(AnyValue.self, .any),
      Subject(Skipping.self, .list(.any)), Subject([Wrong].self, .list(.any)),
      Subject([String: Wrong].self, .dictionary(.any)),
      Subject([String: [Wrong]].self, .dictionary(.list(.any))),
      Subject(Backwards.self, .dictionary(.number)), Subject(Wide.self, Wide.shape),
      Subject(
        Derived.self,
        .object([("name", .text), ("super", .object([("id", .number)])), ("id", .number)])),
      Subject(String.self, .text), Subject(Int.self, .number), Subject(Double.self, .number),
      Subject(Bool?.self, .bool),
      Subject(UUID.self, .word(["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "x"])),
      Subject(Date.self, .date), Subject([Data].self, .list(.word(["AAEC", "YQ==", "*", ""]))),
      Subject([URL].self, .list(.word(["https://example.org/a?b=c", "", "a b", "x:y"]))),
    ]
  }
}
