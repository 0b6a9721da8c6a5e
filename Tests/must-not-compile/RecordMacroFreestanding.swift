// error: @Record can't tell what this macro declares: write it in an extension
import LarderMacros

@freestanding(declaration)
macro names() = #externalMacro(module: "None", type: "None")

@Record
struct City { @Column(.primaryKey) var id: Int; #names }
