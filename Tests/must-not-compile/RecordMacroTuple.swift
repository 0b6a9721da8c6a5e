// one error: @Record needs a declaration for each property, not a tuple of names
import LarderMacros

@Record
struct City { var (name, population) = ("Oslo", 709_037) }
