import Larder

/// The names of a database's tables and columns, without what the program that made it adds to all of them.
struct TableNaming {
  /// Whether Core Data made the database, which puts a Z before each name.
  private let isCoreData: Bool
  /// Whether Django made the database.
  let isDjango: Bool
  private let tables: Set<String>

  init(_ tables: [String]) {
    self.tables = Set(tables.map { $0.lowercased() })
    isCoreData = self.tables.isSuperset(of: ["z_metadata", "z_primarykey"])
    isDjango = self.tables.contains("django_migrations")
  }

  /// The Swift type of a table; nil if no character of its name can be used.
  func type(_ table: String) -> String? { SwiftName.type(withoutPrefix(table), among: tables) }

  /// A column's name, from which its property's is made.
  func column(_ name: String) -> String {
    isCoreData && name.uppercased() == "Z_PK" ? "pk" : withoutPrefix(name)
  }

  private func withoutPrefix(_ name: String) -> String {
    guard isCoreData, let first = name.first, "Zz".contains(first),
      name.dropFirst().first?.isLetter == true
    else { return name }
    return String(name.dropFirst())
  }
}
