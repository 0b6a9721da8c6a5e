// one error: a type can only have one @Record
import LarderMacros

@Record("city")
@Record("town")
struct City { @Column(.primaryKey) var name: String }
