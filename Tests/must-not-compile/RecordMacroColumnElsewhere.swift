// one error: this says something of a property of a @Record only
import LarderMacros

struct City { @Column(.primaryKey) var name: String }
