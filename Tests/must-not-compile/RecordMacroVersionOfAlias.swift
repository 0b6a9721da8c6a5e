// one error: a version has to be an integer that is never nil
import LarderMacros

typealias Edition = String

@Record
struct City {
  @Column(.primaryKey) var name: String
  @Column(.version) var version: Edition
}
