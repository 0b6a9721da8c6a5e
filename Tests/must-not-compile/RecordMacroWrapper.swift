// one error: @Trimmed could be a property wrapper or a macro, with which this isn't simply stored: add @NotStored, or store a property without it
import LarderMacros

@propertyWrapper
struct Trimmed { var wrappedValue: String }

@Record
struct City { @Column(.primaryKey) var id: Int; @Trimmed var name: String }
