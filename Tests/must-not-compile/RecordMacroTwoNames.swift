// one error: @Column can only be on one property: declare each property by itself
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.indexed) var latitude, longitude: Double }
