import LarderSQLite
import Synchronization

/// The first problem of a declaration: found when the table is made, when it is first used, or by a record.
final class DeclarationProblem: Sendable {
  private let found: Lock<String?>
  private let isComplete = Atomic<Bool>(false)
  private let look: @Sendable () -> String?

  /// - Parameter look: runs once, at the first use: it may need what doesn't exist while the table is made.
  init(_ text: String?, look: @escaping @Sendable () -> String?) {
    found = Lock(text)
    self.look = look
  }

  func set(_ text: String) { found.withLock { $0 = $0 ?? text } }

  var text: String? {
    if !isComplete.load(ordering: .acquiring) {
      // Outside the lock, since it runs the program's own initializers.
      if let text = look() { set(text) }
      isComplete.store(true, ordering: .releasing)
    }
    return found.withLock { $0 }
  }
}

extension TableDeclaration {
  /// The problem of columns that a record's `Columns` has but its table wasn't given.
  @usableFromInline
  static func problem<Columns>(
    of columns: Columns, given names: [String], _ storages: [UInt]
  ) -> String? {
    // Usually `columns` holds just the columns that the table was given. Each is one reference, so that a
    // comparison of references is enough.
    let areAll = withUnsafeBytes(of: columns) { bytes in
      bytes.count == storages.count * MemoryLayout<UInt>.size
        && (0..<storages.count).allSatisfy {
          storages.contains(
            bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<UInt>.size, as: UInt.self))
        }
    }
    if areAll { return nil }
    let known = Set(names.map(\.foldedName))
    let missing = Mirror(reflecting: columns).children
      .compactMap { ($0.value as? any NamedColumn)?.name }
      .filter { !known.contains($0.foldedName) }
    if missing.isEmpty { return nil }
    let all = missing.quotedList
    return missing.count == 1
      ? "the column \(all) of Columns isn't given to Table: it would never be written"
      : "columns of Columns aren't given to Table: they would never be written: \(all)"
  }
}

extension [String] {
  /// The names for an error, in curly quotes and joined by commas.
  var quotedList: String { map { "“\($0)”" }.joined(separator: ", ") }
}
