// one error: only a property that is stored in its record is a column
import LarderMacros

@Record
struct City { @Column(.primaryKey) var id: Int; @Column(.unique) static let name = "Oslo" }
