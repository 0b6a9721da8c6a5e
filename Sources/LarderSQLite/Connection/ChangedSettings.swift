/// The settings of its connection that a scope has changed, with their previous values.
final class ChangedSettings {
  var busyTimeout: Duration?
  var statementDeadline: Duration??
  var authorizer: Authorizer??
  var statementCacheCapacity: Int?
  var autocheckpoint: Int?
  /// Whether statements were compiled under a setting that SQLite reverts at the end of the
  /// transaction without recompiling them: `PRAGMA defer_foreign_keys`. If such a statement breaks
  /// a foreign key later, it throws and still leaves its row.
  var dropsStatements = false
  var limits: [Limit: Int32] = [:]
  /// The PRAGMAs that were set, in that order, each with the statement that restores its value.
  var pragmas: [(pragma: Pragma, sql: String)] = []

  /// Remembers a setting's value, unless an earlier one is known.
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
