// one error: the table has no column for “\.nme”
import LarderMacros

@Record(indexes: [.index(\.nme)])
struct City { @Column(.primaryKey) var name: String }
