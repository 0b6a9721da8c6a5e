// one error: “isSelected” needs an initial value, since it isn't read from rows
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var name: String
  @NotStored var isSelected: Bool?
}

@Record
struct Town {
  @Column(.primaryKey) var name: String
  @NotStored var isSelected: Optional<Bool>
}
