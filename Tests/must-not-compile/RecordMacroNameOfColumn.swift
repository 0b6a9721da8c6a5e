// error: write the column's name as a string literal, or an option with its dot: .unique
import LarderMacros

let name = "key"

@Record
struct City { @Column(name, .primaryKey) var id: Int }
