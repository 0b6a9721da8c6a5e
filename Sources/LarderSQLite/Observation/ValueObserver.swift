/// The state of one observer of a value: the region that it has read, and whether a commit has touched it
/// since. Guarded by the lock of ``Observers``.
final class ValueObserver {
  /// The region of the last read; empty before the first.
  private(set) var region = Region()
  /// The region that commits have touched during a read; nil between reads.
  private var pending: Region?
  private(set) var isDirty = false
  var waiter: Observers.Waiter?

  func begin() {
    pending = Region()
    isDirty = false
  }

  func end(_ region: Region) {
    self.region = region
    isDirty = pending?.intersects(region) ?? false
    pending = nil
  }

  func makeDirty() { isDirty = true }

  /// Notes the region that a commit has touched. Returns whether that made the observer dirty.
  func note(_ touched: Region) -> Bool {
    if pending != nil {
      pending?.formUnion(touched)
      return false
    }
    guard region.intersects(touched) else { return false }
    isDirty = true
    return true
  }
}
