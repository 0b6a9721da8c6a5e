// one error: @Trimmed could be a property wrapper or a macro, so this may not be a plain stored property: add @NotStored, or store a property without it
import LarderMacros

@propertyWrapper
struct Trimmed { var wrappedValue: String }

@Record
struct City { @Column(.primaryKey) var id: Int; @Trimmed var name: String }
