import LarderSQLite

/// Makes a record of values that lie in memory as a tuple, which are moved out of it, and calls a closure with
/// its address.
@usableFromInline
typealias RecordMaker =
  @Sendable (UnsafeMutableRawPointer, (UnsafeRawPointer) -> Void) -> Void

/// Finds an initializer whose parameters stand in another order than the table's columns: of two properties of
/// one type each would get the other's value, silently.
///
/// A record is made again of its own properties. Where two of the new one's are the other's, and are right once
/// the parameters are exchanged, the initializer is wrong. One that changes values, say trims a text, gives what
/// it was given the second time, so that it isn't taken for wrong. Columns that have equal values prove
/// nothing: the next record is looked at, until all are told apart or ``mostRecords`` were looked at.
final class InitializerCheck: Sendable {
  /// Columns that are equal in as many records, such as those that are always NULL, are left at that.
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
    let types = properties.map { $0.keyPath.map { ObjectIdentifier(type(of: $0).valueType) } }
    let pairs = types.indices.flatMap { first in
      types.indices.filter { $0 > first && types[$0] == types[first] }.map { (first, $0) }
    }
    open = Lock(Open(pairs: pairs))
  }

  /// Whether nothing can be found any more.
  var isDone: Bool { open.withLock { $0.pairs.isEmpty || $0.records >= Self.mostRecords } }

  /// Looks at a record of the table's type, and returns two columns of which the initializer gives each the
  /// other's value, if it shows.
  func exchangedColumns(_ record: UnsafeRawPointer) -> (Int, Int)? {
    let given = readers.compactMap { $0(record) }
    guard given.count == readers.count, let made = remade(of: given) else { return nil }
    let changed = given.indices.filter { !given[$0].isEqual(to: made[$0]) }
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

  /// The columns whose properties another record, made of those of this one, has otherwise.
  func changedColumns(_ record: UnsafeRawPointer) -> [Int] {
    let given = readers.compactMap { $0(record) }
    guard given.count == readers.count, let made = remade(of: given) else { return [] }
    return given.indices.filter { !given[$0].isEqual(to: made[$0]) }
  }

  /// The property of a column.
  func value(of column: Int, in record: UnsafeRawPointer) -> (any PropertyValue)? {
    readers[column](record)
  }

  /// The properties of a record that is made of these.
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
    // Which column's value each property has got instead of its own.
    var sources: [Int: Int] = [:]
    for column in changed {
      let source = changed.first {
        $0 != column && !sources.values.contains($0) && made[column].isEqual(to: given[$0])
      }
      sources[column] = source
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

  /// The columns that have got one another's values, in a circle from one on.
  private func circle(from start: Int, _ sources: [Int: Int]) -> [Int]? {
    var circle = [start]
    while let next = sources[circle[circle.count - 1]], circle.count <= sources.count {
      if next == start { return circle }
      circle.append(next)
    }
    return nil
  }
}
