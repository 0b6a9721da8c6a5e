// one error: “name” needs an initial value, since it isn't read from rows
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @NotStored var name: String }
