import CSQLite
import Glibc

/// SQLite's functions that are options of its build. They are looked up when they are first needed, so that
/// programs link with libraries that don't have them.
///
/// The casts are sound: each caller gives the type that sqlite3.h declares for an option that is on.
package struct OptionalFunctions {
  private let lookUp: (String) -> UnsafeMutableRawPointer?

  /// - Parameter lookUp: finds a symbol; in the linked library, except in tests.
  package init(_ lookUp: @escaping (String) -> UnsafeMutableRawPointer? = { dlsym(nil, $0) }) {
    self.lookUp = lookUp
  }

  /// A function by the part of its name after `sqlite3`; nil if the library doesn't have it.
  package func function<T>(_ name: String, as type: T.Type = T.self) -> T? {
    lookUp("sqlite3" + name).map { unsafeBitCast($0, to: type) }
  }

  /// The error for a feature that the library was built without.
  package static func missing(_ feature: String) -> UnsupportedByEngine {
    UnsupportedByEngine(
      engine: "SQLite \(String(cString: sqlite3_libversion())), as it was built,", feature: feature)
  }
}
