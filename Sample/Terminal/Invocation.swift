/// An option that a command takes.
struct Option: Sendable {
  let name: String
  /// What stands for its value in the help; nil for one that has none.
  let value: String?
  let help: String

  init(_ name: String, _ value: String? = nil, _ help: String) {
    self.name = name
    self.value = value
    self.help = help
  }

  /// Those that every command takes.
  static let common = [
    Option(
      "database", "FILE",
      "the database, or a server's: postgres://USER@HOST/NAME; "
        + "\(DatabaseLocation.defaultDescription) if not given"),
    Option("json", nil, "print an array of JSON objects"),
    Option("wait", "SECONDS", "how long to wait for other programs that write (5; a server: 30)"),
    Option("max-pages", "N", "let the file have no more pages than this"),
    Option("help", nil, "explain the command"),
  ]
}

/// A command with the arguments that it was called with.
struct Invocation: Sendable {
  let arguments: [String]
  private let values: [String: String]

  /// Takes the words behind the command's name apart.
  init(_ words: [String], for command: Command) throws {
    let options = command.options + Option.common
    var arguments: [String] = []
    var values: [String: String] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        arguments += rest
        break
      }
      guard word.hasPrefix("--") || word == "-h" else {
        // A negative number is no option.
        guard !word.hasPrefix("-") || Double(word) != nil || word == "-" else {
          throw Self.usage("there is no option \(word)", command)
        }
        arguments.append(word)
        continue
      }
      let parts = word.drop { $0 == "-" }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0] == "h" ? "help" : String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        throw Self.usage("there is no option \(word)", command)
      }
      if option.value == nil {
        guard parts.count == 1 else { throw Self.usage("--\(name) takes no value", command) }
        values[name] = ""
      } else {
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw Self.usage("--\(name) needs a value", command)
        }
        values[name] = value
      }
    }
    self.arguments = arguments
    self.values = values
    guard has("help") || command.argumentCount.contains(arguments.count) else {
      let needed = command.arguments.isEmpty ? "no arguments" : command.arguments
      throw Self.usage("\(command.name) takes \(needed)", command)
    }
  }

  private static func usage(_ problem: String, _ command: Command) -> Failure {
    Failure(.usage, "\(problem); see “gazetteer \(command.name) --help”")
  }

  func has(_ name: String) -> Bool { values[name] != nil }
  func text(_ name: String) -> String? { values[name] }
  var wantsJSON: Bool { has("json") }

  /// The value of an option that is a whole number.
  func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    try values[name].map { try Self.integer($0, "--\(name)", in: range) }
  }

  /// The value of an option that is a number.
  func real(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
    try values[name].map { try Self.real($0, "--\(name)", in: range) }
  }

  static func integer(
    _ text: String, _ name: String, in range: ClosedRange<Int>
  ) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
      throw Failure(
        .usage, "\(name) is a whole number from \(range.lowerBound)\(upper), not “\(text)”")
    }
    return number
  }

  static func real(
    _ text: String, _ name: String, in range: ClosedRange<Double>
  ) throws -> Double {
    guard let number = Double(text), range.contains(number) else {
      throw Failure(
        .usage,
        "\(name) is a number from \(range.lowerBound) to \(range.upperBound), not “\(text)”")
    }
    return number
  }
}
