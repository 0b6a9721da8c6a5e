// one error: “name” needs a value, since none is read from rows
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @NotStored var name: String }
