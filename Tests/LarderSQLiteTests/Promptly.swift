import Testing

/// Runs tests, and the tasks that they start, at a higher priority. At the default priority, they would run
/// only after all tests that have yet to begin, which can take minutes.
struct PromptTrait: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      try await Task(priority: .high) { try await function() }.value
    }
  }
}

extension Trait where Self == PromptTrait {
  /// A trait for tests whose tasks wait for one another.
  static var promptly: PromptTrait { PromptTrait() }
}

/// Calls a synchronous closure, in which calls that have both variants use the synchronous one.
func onThisThread<T>(_ body: () throws -> T) rethrows -> T { try body() }
