// one error: a constant with an initial value can't be read from a row: make it var, or static, or add @NotStored
import LarderMacros

@Record
struct City { @Column(.primaryKey) let name = "Oslo" }
