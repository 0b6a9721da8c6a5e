/// An option that a command takes.
package struct Option: Sendable {
  package let name: String
  /// The placeholder of the option's value in the help; nil if it takes none.
  package let value: String?
  package let help: String

  package init(_ name: String, _ value: String? = nil, _ help: String) {
    self.name = name
    self.value = value
    self.help = help
  }
}

/// The arguments and options of one call of a command.
package struct Invocation: Sendable {
  package let arguments: [String]
  /// The values that were given for each option, in order; one empty text if it takes none.
  private let values: [String: [String]]

  /// Parses the words after the command's name.
  package init(_ words: [String], for command: Command, of program: Program) throws {
    func usage(_ problem: String) -> Failure {
      Failure(.usage, "\(problem); see “\(program.name) \(command.name) --help”")
    }
    let options = command.options + program.commonOptions
    var arguments: [String] = []
    var values: [String: [String]] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        arguments += rest
        break
      }
      // An SQL comment (two dashes and a space) isn't an option.
      let isComment = word.hasPrefix("--") && word.dropFirst(2).first?.isWhitespace == true
      guard word.hasPrefix("--") && !isComment || word == "-h" else {
        // A negative number isn't an option either.
        guard !word.hasPrefix("-") || isComment || Double(word) != nil || word == "-" else {
          throw usage("there is no option \(word)")
        }
        arguments.append(word)
        continue
      }
      let parts = word.drop { $0 == "-" }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0] == "h" ? "help" : String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        throw usage("there is no option \(word)")
      }
      if option.value == nil {
        guard parts.count == 1 else { throw usage("--\(name) takes no value") }
        values[name] = [""]
      } else {
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw usage("--\(name) needs a value")
        }
        values[name, default: []].append(value)
      }
    }
    self.arguments = arguments
    self.values = values
    guard has("help") || command.argumentCount.contains(arguments.count) else {
      let needed = command.arguments.isEmpty ? "no arguments" : command.arguments
      throw usage("\(command.name) takes \(needed)")
    }
  }

  package func has(_ name: String) -> Bool { values[name] != nil }
  /// The value of an option; the last one if it was given several times.
  package func text(_ name: String) -> String? { values[name]?.last }
  /// All values of an option that may be given several times.
  package func texts(_ name: String) -> [String] { values[name] ?? [] }
  package var wantsJSON: Bool { has("json") }

  /// The value of an option that is a whole number.
  package func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    try text(name).map { try Self.integer($0, "--\(name)", in: range) }
  }

  /// The value of an option that is a number.
  package func real(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
    try text(name).map { try Self.real($0, "--\(name)", in: range) }
  }

  package static func integer(
    _ text: String, _ name: String, in range: ClosedRange<Int>
  ) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
      throw Failure(
        .usage, "\(name) has to be a whole number from \(range.lowerBound)\(upper), not “\(text)”")
    }
    return number
  }

  package static func real(
    _ text: String, _ name: String, in range: ClosedRange<Double>
  ) throws -> Double {
    guard let number = Double(text), range.contains(number) else {
      throw Failure(
        .usage,
        "\(name) has to be a number from \(range.lowerBound) to \(range.upperBound), not “\(text)”")
    }
    return number
  }
}
