import Larder
import ProofSupport

/// A call that takes a text, and what the text may do to it.
struct InjectionEntry: Sendable {
  let name: String
  /// How many entries of the schema it may make.
  var makes = 0
  /// Whether it runs outside of the transaction that undoes what the others write.
  var isAlone = false
  /// Throws one of the library's errors where the text is refused, a ``WrongAnswer`` where it did
  /// something else than it should.
  let run: @Sendable (Database, String) throws -> Void

  init(
    _ name: String, makes: Int = 0, isAlone: Bool = false,
    _ run: @escaping @Sendable (Database, String) throws -> Void
  ) {
    (self.name, self.makes, self.isAlone, self.run) = (name, makes, isAlone, run)
  }
}
