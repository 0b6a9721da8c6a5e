// one error: @Record can't tell whether this is compiled: a table needs the same columns, and a type the same initializers, under all conditions
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var id: Int
  #if DEBUG
    var name: String
  #endif
}
