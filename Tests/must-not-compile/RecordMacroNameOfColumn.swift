// one error: cannot convert value of type 'String' to expected argument type 'RecordAttribute.ColumnOption'
import LarderMacros

let name = "key"

@Record
struct City { @Column(name, .primaryKey) var id: Int }
