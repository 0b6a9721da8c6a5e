// one error: no property is the primary key: mark it @Column(.primaryKey), or say options: .noPrimaryKey
import LarderMacros

@Record
struct City { var name: String }
