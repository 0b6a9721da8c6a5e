/// Something that a program can be asked for.
package struct Command: Sendable {
  package let name: String
  /// The arguments as they stand in the help.
  package let arguments: String
  /// How many of them there may be.
  package let argumentCount: ClosedRange<Int>
  package let summary: String
  /// More about it, for its own help.
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

  /// How it is called.
  var usage: String { [name, arguments].filter { !$0.isEmpty }.joined(separator: " ") }
}
