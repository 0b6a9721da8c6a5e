import LarderSQLite
import Synchronization

/// What is wrong with a declaration, as far as it shows without a database: found when the table is made, when it is
/// first used, or by a record.
final class DeclarationProblem: Sendable {
  private let found: Lock<String?>
  private let isComplete = Atomic<Bool>(false)
  private let look: @Sendable () -> String?

  /// - Parameter look: looks at what may not be there yet while the table is made, once.
  init(_ text: String?, look: @escaping @Sendable () -> String?) {
    found = Lock(text)
    self.look = look
  }

  /// Sets it, unless there is one.
  func set(_ text: String) { found.withLock { $0 = $0 ?? text } }

  /// Nil where nothing is wrong.
  var text: String? {
    if !isComplete.load(ordering: .acquiring) {
      // Not under the lock: it runs the program's own initializers.
      if let text = look() { set(text) }
      isComplete.store(true, ordering: .releasing)
    }
    return found.withLock { $0 }
  }
}

extension TableBuilder {
  /// What is wrong with the columns that a record's type has and the table wasn't given: they would never be written.
  @usableFromInline
  static func problem<Columns>(
    of columns: Columns, given names: [String], _ storages: [UInt]
  ) -> String? {
    // Mostly it holds just what the table was given. A column is one reference.
    let areAll = withUnsafeBytes(of: columns) { bytes in
      bytes.count == storages.count * MemoryLayout<UInt>.size
        && (0..<storages.count).allSatisfy {
          storages.contains(
            bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<UInt>.size, as: UInt.self))
        }
    }
    if areAll { return nil }
    let known = Set(names.map(\.foldedName))
    let missing = Mirror(reflecting: columns).children.compactMap { child in
      (child.value as? any NamedColumn).map(\.name)
    }.filter { !known.contains($0.foldedName) }
    guard let first = missing.first else { return nil }
    let all = missing.map { "“\($0)”" }.joined(separator: ", ")
    return missing.count == 1
      ? "Columns has a column “\(first)” that Table isn't given: it would never be written"
      : "Columns has columns that Table isn't given, and which would never be written: \(all)"
  }
}
