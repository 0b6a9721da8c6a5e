// one error: only a stored instance property can be a column
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.unique) var name: String { "Oslo" } }
