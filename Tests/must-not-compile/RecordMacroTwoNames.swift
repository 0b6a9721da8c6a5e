// one error: @Column is one property's: declare each by itself
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.indexed) var latitude, longitude: Double }
