// one error: a private type in another can't be extended: make it fileprivate
import LarderMacros

enum Country {
  @Record
  private struct City { @Column(.primaryKey) var name: String }
}
