import ProofSupport

/// The parts of the proof of jobs that are wanted, by the words behind `--`:
/// `[file|server] [kills|rate|claims] [--workers N] [--processes N]`.
struct JobsPlan {
  /// What is done with the jobs.
  enum Part: String, CaseIterable {
    /// Processes work and are killed.
    case kills
    /// How many jobs are done in a second.
    case rate
    /// How long a claim takes, by the number of jobs that wait.
    case claims
  }

  private(set) var engines: [String] = []
  private(set) var parts: Set<Part> = []
  /// How many workers there are in all processes together.
  private(set) var workers = 16
  private(set) var processes = 4
  /// Longer where many jobs keep a machine busy, so that it is extended in time.
  var lease = Duration.seconds(2)

  init(_ words: [String]) throws {
    var left = words[...]
    while let word = left.popFirst() {
      switch word {
      case "file", "server": engines.append(word)
      case "--workers": workers = try Self.number(left.popFirst(), word)
      case "--processes": processes = try Self.number(left.popFirst(), word)
      default:
        guard let part = Part(rawValue: word) else {
          throw ProofOptions.Failure(description: "unknown part of the proof of jobs: \(word)")
        }
        parts.insert(part)
      }
    }
    if engines.isEmpty { engines = ["file", "server"] }
    if parts.isEmpty { parts = Set(Part.allCases) }
  }

  /// How many workers a process has.
  var workersEach: Int { max(1, workers / processes) }

  private static func number(_ text: String?, _ option: String) throws -> Int {
    guard let number = text.flatMap({ Int($0) }), number > 0 else {
      throw ProofOptions.Failure(description: "\(option) needs a number above 0")
    }
    return number
  }
}
