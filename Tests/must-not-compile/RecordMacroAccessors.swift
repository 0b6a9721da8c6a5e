// compiles without warnings
import LarderMacros

@Record
struct City {
  @Column(.primaryKey) var name: String
  @Column("celsius") var degrees: Double
  var fahrenheit: Double {
    @storageRestrictions(initializes: degrees)
    init { degrees = (newValue - 32) / 1.8 }
    get { degrees * 1.8 + 32 }
    set { degrees = (newValue - 32) / 1.8 }
  }
}

let oslo = City(name: "Oslo", fahrenheit: 41)
