// one error: “City” has no properties that are stored
import LarderMacros

@Record
struct City { var name: String { "Oslo" } }
