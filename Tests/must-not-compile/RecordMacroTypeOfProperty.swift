// one error: write the type of “name”: @Record has to write an initializer that takes it
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var id: Int
  var name = String(5)

  init() { id = 5 }
}
