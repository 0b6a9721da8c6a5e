// one error: a property is a column, or @NotStored
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.unique) @NotStored var name = "Oslo" }
