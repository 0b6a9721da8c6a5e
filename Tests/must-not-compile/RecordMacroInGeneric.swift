// one error: a type in a generic type can't be a record, since it can't have static stored properties
import LarderMacros

struct Country<Code> {
  @Record
  struct City { @Column(.primaryKey) var name: String }
}
