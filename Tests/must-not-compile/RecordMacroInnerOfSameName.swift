// one error: a type in a record can't have the record's name, which means the inner type there
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var name: String
  enum City { case large }
}
