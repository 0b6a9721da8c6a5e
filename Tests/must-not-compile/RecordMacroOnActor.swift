// one error: @Record makes records of structures and final classes
import LarderMacros

@Record
actor City { var name = "Oslo" }
