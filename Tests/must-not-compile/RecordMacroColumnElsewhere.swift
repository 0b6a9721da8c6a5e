// one error: this attribute can only be on a property of a @Record type
import LarderMacros

struct City { @Column(.primaryKey) var name: String }
