import CFaultInjection
import TestSupport

/// A disk that keeps what was synced, and of the rest whatever it likes: what files may hold after a
/// loss of power at any moment of a recording.
///
/// Writes that weren't synced are kept, lost or torn, each sector on its own, so that later ones may
/// be there without earlier ones. A file may have grown without its new bytes. Names that were made
/// or deleted since the folder was synced may be as they were. What a write didn't touch stays, which
/// SQLite takes for granted (see [Atomic Commit](https://www.sqlite.org/atomiccommit.html)).
///
/// A sync keeps what was written before it began. After one that failed, what it was to keep may be
/// gone for good, whatever is synced later: the system may have thrown it away.
struct Disk {
  /// Whether names and cuts are kept up to some moment, and lost from then on, as by file systems
  /// that keep a journal of them, instead of each on its own.
  let keepsOrder: Bool
  private enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
  }

  private struct File {
    var synced: [UInt8] = []
    var unsynced: [(change: Change, order: Int)] = []
  }

  private var files: [Int32: File] = [:]
  /// The file that each name certainly leads to.
  private var names: [String: Int32] = [:]
  /// Where names have led since the folder was synced, in order; nil for nowhere.
  private var newNames: [String: [(file: Int32?, order: Int)]] = [:]
  /// How many events there were.
  private var order = 0

  private static let sector = 512

  init(keepsOrder: Bool) { self.keepsOrder = keepsOrder }

  /// Lets an event of a recording happen.
  mutating func take(_ event: fault_event, _ random: inout SeededGenerator) {
    let file = event.file
    let name = event.path.map { String(cString: $0) } ?? ""
    order += 1
    switch Int(event.type) {
    case Int(FAULT_EVENT_CREATE):
      files[file] = File()
      newNames[name, default: []].append((file, order))
    case Int(FAULT_EVENT_RENAME):
      newNames[name, default: []].append((file, order))
    case Int(FAULT_EVENT_DELETE):
      newNames[name, default: []].append((nil, order))
    case Int(FAULT_EVENT_WRITE):
      let bytes = Array(UnsafeRawBufferPointer(start: event.bytes, count: Int(event.count)))
      files[file]?.unsynced.append((.write(offset: Int(event.offset), bytes: bytes), order))
    case Int(FAULT_EVENT_TRUNCATE):
      files[file]?.unsynced.append((.truncate(size: Int(event.offset)), order))
    case Int(FAULT_EVENT_SYNC): keep(file, upTo: Int(event.offset))
    case Int(FAULT_EVENT_FAILED_SYNC):
      let chance = ([0.1, 0.5, 1] as [Double]).randomElement(using: &random) ?? 1
      files[file]?.unsynced.removeAll {
        $0.order <= event.offset && Self.happens(chance, &random)
      }
    case Int(FAULT_EVENT_FOLDER_SYNC): keepNames(upTo: Int(event.offset))
    default: break
    }
  }

  /// What was done to a file in the first so many events is on the disk.
  private mutating func keep(_ number: Int32, upTo end: Int) {
    guard var file = files.removeValue(forKey: number) else { return }
    let covered = file.unsynced.prefix { $0.order <= end }
    for (change, _) in covered { Self.apply(change, to: &file.synced) }
    file.unsynced.removeFirst(covered.count)
    files[number] = file
  }

  private mutating func keepNames(upTo end: Int) {
    for (name, history) in newNames {
      let covered = history.prefix { $0.order <= end }
      if let last = covered.last { names[name] = last.file }
      let rest = Array(history.dropFirst(covered.count))
      newNames[name] = rest.isEmpty ? nil : rest
    }
  }

  /// Files as they may be found when the power is back, by path.
  func afterPowerLoss(_ random: inout SeededGenerator) -> [String: [UInt8]] {
    // The last name or cut that is kept.
    let end = keepsOrder ? ([0] + unsyncedOrders).randomElement(using: &random) : nil
    var left = names
    for (name, history) in newNames.sorted(by: { $0.key < $1.key }) {
      let kept =
        end.map { end in history.count { $0.order <= end } }
        ?? Int.random(in: 0...history.count, using: &random)
      if kept > 0 { left[name] = history[kept - 1].file }
    }
    var found: [String: [UInt8]] = [:]
    for (name, number) in left.sorted(by: { $0.key < $1.key }) {
      guard let file = files[number] else { continue }
      found[name] = Self.content(of: file, end, &random)
    }
    return found
  }

  /// The names and cuts that may be lost.
  private var unsyncedOrders: [Int] {
    let cuts = files.values.flatMap(\.unsynced).compactMap { change, order in
      if case .truncate = change { order } else { nil }
    }
    return (newNames.values.joined().map(\.order) + cuts).sorted()
  }

  private static func content(
    of file: File, _ end: Int?, _ random: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = file.synced
    // Everything, nothing, or something: in between, most of the interesting states are.
    let chance = ([0, 0.1, 0.5, 0.9, 1] as [Double]).randomElement(using: &random) ?? 0
    for (change, order) in file.unsynced {
      switch change {
      case .truncate:
        if end.map({ order <= $0 }) ?? happens(chance, &random) { apply(change, to: &bytes) }
      case .write(let offset, let new):
        if happens(0.5, &random) {
          if happens(chance, &random) { apply(change, to: &bytes) }
        } else {
          tear(offset, new, chance, &bytes, &random)
        }
        if happens(0.2, &random) { grow(&bytes, to: offset + new.count) }
      }
    }
    return bytes
  }

  private static func happens(_ chance: Double, _ random: inout SeededGenerator) -> Bool {
    Double.random(in: 0..<1, using: &random) < chance
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .truncate(let size):
      bytes.removeLast(max(0, bytes.count - size))
      grow(&bytes, to: size)
    case .write(let offset, let new):
      grow(&bytes, to: offset + new.count)
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }
  }

  private static func grow(_ bytes: inout [UInt8], to size: Int) {
    if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
  }

  /// Writes some sectors of what was to be written, and of some only a half.
  private static func tear(
    _ offset: Int, _ new: [UInt8], _ chance: Double, _ bytes: inout [UInt8],
    _ random: inout SeededGenerator
  ) {
    var position = 0
    while position < new.count {
      var end = min(new.count, position + sector - (offset + position) % sector)
      let next = end
      if happens(chance, &random) {
        if happens(0.1, &random) { end = position + (end - position) / 2 }
        let part = Array(new[position..<end])
        apply(.write(offset: offset + position, bytes: part), to: &bytes)
      }
      position = next
    }
  }
}
