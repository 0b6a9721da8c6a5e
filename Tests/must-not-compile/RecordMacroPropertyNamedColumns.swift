// one error: @Record writes a static property of this name: choose another, and the column's name with @Column
import LarderMacros

@Record
struct Sheet { @Column(.primaryKey) var id: Int; var columns: Int }
