// one error: a property has one @Column
import LarderMacros

@Record
struct City { @Column(.primaryKey) @Column("key") var id: Int }
