// one error: write the option with its dot: .unique
import LarderMacros

@Record
struct City { @Column("id", RecordAttribute.ColumnOption.primaryKey) var id: Int }
