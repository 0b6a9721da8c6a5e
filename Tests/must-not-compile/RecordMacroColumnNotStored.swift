// one error: a property can't have both @Column and @NotStored
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.unique) @NotStored var name = "Oslo" }
