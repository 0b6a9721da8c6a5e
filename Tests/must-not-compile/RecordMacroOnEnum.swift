// one error: @Record can only be on a structure or a final class
import LarderMacros

@Record
enum City { case oslo }
