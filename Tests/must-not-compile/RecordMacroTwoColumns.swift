// one error: a property can only have one @Column
import LarderMacros

@Record
struct City { @Column(.primaryKey) @Column("key") var id: Int }
