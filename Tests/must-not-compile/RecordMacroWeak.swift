// one error: a weak or unowned reference can't be a column: add @NotStored
import LarderMacros

final class Country: Sendable {}

@Record
struct City { @Column(.primaryKey) var id: Int; weak var country: Country? }
