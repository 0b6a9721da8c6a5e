// one error: @Record makes records of structures and final classes
import LarderMacros

@Record
enum City { case oslo }
