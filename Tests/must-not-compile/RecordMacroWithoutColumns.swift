// one error: “City” has no stored properties
import LarderMacros

@Record
struct City { var name: String { "Oslo" } }
