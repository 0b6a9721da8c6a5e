// one error: a private type in another can't be extended: make it fileprivate, or write its conformance, : Record
import LarderMacros

enum Country {
  @Record
  private struct City { @Column(.primaryKey) var name: String }
}
