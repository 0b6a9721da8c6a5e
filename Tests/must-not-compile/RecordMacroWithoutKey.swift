// one error: no property is the primary key: mark one @Column(.primaryKey), or pass options: .noPrimaryKey
import LarderMacros

@Record
struct City { var name: String }
