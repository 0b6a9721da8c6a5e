// one error: a type in a generic one can't be a record, since it has no static properties
import LarderMacros

struct Country<Code> {
  @Record
  struct City { @Column(.primaryKey) var name: String }
}
