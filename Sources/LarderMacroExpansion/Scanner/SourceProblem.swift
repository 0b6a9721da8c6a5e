/// What is wrong at a place of the source text: it becomes a diagnostic of the compiler.
package struct SourceProblem: Error, Equatable {
  /// Where, in UTF-8 bytes from the start of the text that was scanned.
  package var offset: Int
  package let message: String

  package init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}
