// one error: a table's name isn't empty
import LarderMacros

@Record("")
struct City { @Column(.primaryKey) var name: String }
