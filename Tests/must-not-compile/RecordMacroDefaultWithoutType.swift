// one error: ValueWrittenWithItsType
import LarderMacros

enum Size: String, DatabaseValueConvertible { case large, small }

@Record
struct City {
  @Column(.primaryKey) var name: String
  @Column(.default(.large)) var size: Size
}
