// one error: a table's name can't be empty
import LarderMacros

@Record("")
struct City { @Column(.primaryKey) var name: String }
