/// What a scope has changed of its connection's settings: their values before.
final class ChangedSettings {
  var busyTimeout: Duration?
  var statementDeadline: Duration??
  var authorizer: Authorizer??
  var statementCacheCapacity: Int?
  var autocheckpoint: Int?
  /// Whether statements were compiled under a setting that SQLite takes back at the end of the
  /// transaction without compiling them anew: `PRAGMA defer_foreign_keys`. One that breaks a
  /// foreign key would throw and leave its row.
  var dropsStatements = false
  var limits: [Limit: Int32] = [:]
  /// What sets each PRAGMA again that was set, in the order in which they were.
  var pragmas: [(pragma: Pragma, sql: String)] = []

  /// Remembers a value, unless an earlier one is known.
  func keep<T>(_ setting: ReferenceWritableKeyPath<ChangedSettings, T?>, _ value: T) {
    if self[keyPath: setting] == nil { self[keyPath: setting] = .some(value) }
  }

  func keep(_ limit: Limit, _ value: Int32) {
    if limits[limit] == nil { limits[limit] = value }
  }

  func keep(_ pragma: Pragma, _ value: () -> String?) {
    let name = pragma.qualifiedName
    guard !pragmas.contains(where: { $0.pragma.qualifiedName == name }), let value = value() else {
      return
    }
    pragmas.append((pragma, "PRAGMA \(name) = \(value.quoted(by: UInt8(ascii: "'")))"))
  }
}
