import CSQLite
import Glibc

/// SQLite's functions that are options of its build. They are looked up when they are first needed, so that
/// programs link with libraries that don't have them.
///
/// What makes the casts sound: whoever looks one up gives the type that sqlite3.h declares, and hides.
struct OptionalFunctions {
  private let lookUp: (String) -> UnsafeMutableRawPointer?

  /// - Parameter lookUp: finds a symbol: in the library, but for tests.
  init(_ lookUp: @escaping (String) -> UnsafeMutableRawPointer? = { dlsym(nil, $0) }) {
    self.lookUp = lookUp
  }

  /// A function by its name behind `sqlite3`; nil where the library has none.
  func function<T>(_ name: String, as type: T.Type = T.self) -> T? {
    lookUp("sqlite3" + name).map { unsafeBitCast($0, to: type) }
  }

  /// The error that names what is missing.
  static func missing(_ feature: String) -> UnsupportedByEngine {
    UnsupportedByEngine(
      engine: "SQLite \(String(cString: sqlite3_libversion())), as it was built,", feature: feature)
  }
}
