/// An error at a position of the source text; it becomes a diagnostic of the compiler.
package struct SourceProblem: Error, Equatable {
  /// The position, in UTF-8 bytes from the start of the scanned text.
  package var offset: Int
  package let message: String

  package init(_ message: String, at offset: Int) {
    self.offset = offset
    self.message = message
  }
}
