// one error: a class has to be final to be a record
import LarderMacros

@Record
class City { @Column(.primaryKey) let name: String; init() { name = "Oslo" } }
