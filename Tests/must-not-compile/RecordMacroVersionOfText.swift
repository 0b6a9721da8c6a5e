// one error: a version has to be an integer that is never nil
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var name: String
  @Column(.version) var version: String
}
