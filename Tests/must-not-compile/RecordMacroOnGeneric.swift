// one error: a generic type can't be a record, since it has no static properties
import LarderMacros

@Record
struct City<Name> { var name: Name }
