import LarderSQLite

/// Makes a record from a tuple of values, which it moves out of memory; calls a closure with its address.
@usableFromInline
typealias RecordMaker =
  @Sendable (UnsafeMutableRawPointer, (UnsafeRawPointer) -> Void) -> Void

/// Finds an initializer whose parameters are in another order than the table's columns. Two properties of the
/// same type would silently get each other's values.
///
/// The check makes a record again from its own properties. If two of the new record's properties are
/// exchanged, and come out right once the arguments are exchanged too, the initializer is wrong. An
/// initializer that changes values, such as one that trims a text, fails that second test, and so isn't taken
/// for wrong. Columns with equal values prove nothing: further records are checked until all pairs are told
/// apart, or ``mostRecords`` were checked.
final class InitializerCheck: Sendable {
  /// The number of records after which the check gives up on columns that are always equal, such as NULL.
  static let mostRecords = 1000

  private struct Open {
    /// The pairs of columns of one type that no record has told apart.
    var pairs: [(Int, Int)]
    var records = 0
  }

  private let layout: RecordLayout
  private let readers: [PropertyReader]
  private let make: RecordMaker
  private let open: Lock<Open>

  init(
    _ properties: [PropertyAccess], _ readers: [PropertyReader], _ layout: RecordLayout,
    _ make: @escaping RecordMaker
  ) {
    self.layout = layout
    self.readers = readers
    self.make = make
    let types = properties.map { ObjectIdentifier($0.valueType) }
    let pairs = types.indices.flatMap { first in
      types.indices.filter { $0 > first && types[$0] == types[first] }.map { (first, $0) }
    }
    open = Lock(Open(pairs: pairs))
  }

  var isDone: Bool { open.withLock { $0.pairs.isEmpty || $0.records >= Self.mostRecords } }

  /// Returns two columns whose values the initializer exchanges, if this record shows it.
  func exchangedColumns(_ record: UnsafeRawPointer) -> (Int, Int)? {
    guard let (given, made, changed) = remade(record) else { return nil }
    if let exchanged = exchanged(changed, given, made) { return exchanged }
    open.withLock { open in
      open.records += 1
      open.pairs.removeAll { first, second in
        !changed.contains(first) && !changed.contains(second)
          && !given[first].isEqual(to: given[second])
      }
    }
    return nil
  }

  /// The columns whose values change when a record is made again from this one's properties.
  func changedColumns(_ record: UnsafeRawPointer) -> [Int] { remade(record)?.changed ?? [] }

  /// A record's properties, those of a record that is made from them, and the columns that differ.
  private func remade(
    _ record: UnsafeRawPointer
  ) -> (given: [any PropertyValue], made: [any PropertyValue], changed: [Int])? {
    let given = readers.compactMap { $0(record) }
    guard given.count == readers.count, let made = remade(of: given) else { return nil }
    return (given, made, given.indices.filter { !given[$0].isEqual(to: made[$0]) })
  }

  func value(of column: Int, in record: UnsafeRawPointer) -> (any PropertyValue)? {
    readers[column](record)
  }

  /// The properties of a record that is made from these values; nil if they can't be read.
  private func remade(of given: [any PropertyValue]) -> [any PropertyValue]? {
    var made: [any PropertyValue] = []
    layout.withTuple { memory in
      for (index, value) in given.enumerated() {
        value.initialize(memory + layout.offset(of: index))
      }
      make(memory) { record in made = readers.compactMap { $0(record) } }
    }
    return made.count == given.count ? made : nil
  }

  private func exchanged(
    _ changed: [Int], _ given: [any PropertyValue], _ made: [any PropertyValue]
  ) -> (Int, Int)? {
    // For each changed column, the column whose value it got instead of its own.
    var sources: [Int: Int] = [:]
    for column in changed {
      sources[column] = changed.first {
        $0 != column && !sources.values.contains($0) && made[column].isEqual(to: given[$0])
      }
    }
    for start in changed {
      guard let circle = circle(from: start, sources) else { continue }
      var exchanged = given
      for column in circle { sources[column].map { exchanged[$0] = given[column] } }
      guard let made = remade(of: exchanged) else { return nil }
      if circle.allSatisfy({ made[$0].isEqual(to: given[$0]) }), let source = sources[start] {
        return (start, source)
      }
    }
    return nil
  }

  /// The cycle of columns from `start` on in which each got the next one's value; nil if there is none.
  private func circle(from start: Int, _ sources: [Int: Int]) -> [Int]? {
    var circle = [start]
    while let next = sources[circle[circle.count - 1]], circle.count <= sources.count {
      if next == start { return circle }
      circle.append(next)
    }
    return nil
  }
}
