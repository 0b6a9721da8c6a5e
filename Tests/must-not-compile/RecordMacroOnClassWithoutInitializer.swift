// one error: a class needs an initializer of its own to be a record
import LarderMacros

@Record
final class City { @Column(.primaryKey) var name = "Oslo" }
