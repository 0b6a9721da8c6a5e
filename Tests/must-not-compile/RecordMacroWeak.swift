// one error: a reference that isn't kept is no column: add @NotStored
import LarderMacros

final class Country: Sendable {}

@Record
struct City { @Column(.primaryKey) var id: Int; weak var country: Country? }
