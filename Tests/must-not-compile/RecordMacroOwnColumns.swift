// one error: @Record writes a type of this name itself
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; enum Columns {} }
