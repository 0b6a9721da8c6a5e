// one error: @Record makes records of structures and final classes
import LarderMacros

@Record
protocol City { var name: String { get } }
