/// A command of a program, with its options and help.
package struct Command: Sendable {
  package let name: String
  /// The arguments, as the help shows them.
  package let arguments: String
  package let argumentCount: ClosedRange<Int>
  package let summary: String
  /// A longer description, for the command's own help.
  package let details: String
  package let options: [Option]
  package let run: @MainActor @Sendable (Invocation) async throws -> Void

  package init(
    name: String, arguments: String = "", argumentCount: ClosedRange<Int> = 0...0, summary: String,
    details: String = "", options: [Option] = [],
    run: @escaping @MainActor @Sendable (Invocation) async throws -> Void
  ) {
    self.name = name
    self.arguments = arguments
    self.argumentCount = argumentCount
    self.summary = summary
    self.details = details
    self.options = options
    self.run = run
  }

  /// The command's name and arguments, as the help shows them.
  var usage: String { [name, arguments].filter { !$0.isEmpty }.joined(separator: " ") }
}
