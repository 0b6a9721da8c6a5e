// one error: a generic type can't be a record, since it can't have static stored properties
import LarderMacros

@Record
struct City<Name> { var name: Name }
