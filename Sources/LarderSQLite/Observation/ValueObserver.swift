/// One who observes a value: what it has read, and whether that was touched since. The lock of ``Observers``
/// guards it.
final class ValueObserver {
  /// What was read last; empty before.
  private(set) var region = Region()
  /// While it reads: what was touched meanwhile.
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

  /// Notes what a commit has touched; false where that doesn't matter.
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
