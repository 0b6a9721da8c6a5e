import Dispatch
import Glibc

/// A receiver of file events, called on the queue of ``FileEvents``.
protocol FileEventReceiver: AnyObject, Sendable {
  func hasChanged()
}

/// An inotify instance, shared by all watchers of the same events while there are any. A user may have only
/// few instances (128 by default).
///
/// See [inotify(7)](https://man7.org/linux/man-pages/man7/inotify.7.html).
///
/// Sendable because everything happens on its queue, on which the watchers run too.
final class FileEvents: @unchecked Sendable {
  /// Events of writes to files. Each watch is one-shot.
  static let writes = FileEvents(
    "larder.watch", IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF, isOneShot: true)
  /// Events of moves and removals of files, at no cost for writers. This takes another instance, since each
  /// has one watch per file.
  static let moves = FileEvents("larder.watch.moves", IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

  let queue: DispatchQueue
  private let mask: UInt32
  private let isOneShot: Bool
  private var descriptor: Int32 = -1
  private var source: (any DispatchSourceRead)?
  private var watchers: [ObjectIdentifier: any FileEventReceiver] = [:]
  /// The watchers that wait for an event, by watch descriptor.
  private var waiting: [Int32: Set<ObjectIdentifier>] = [:]

  private init(_ label: String, _ mask: Int32, isOneShot: Bool = false) {
    queue = DispatchQueue(label: label)
    self.mask = UInt32(mask) | (isOneShot ? UInt32(IN_ONESHOT) : 0)
    self.isOneShot = isOneShot
  }

  func add(_ watcher: any FileEventReceiver) {
    watchers[ObjectIdentifier(watcher)] = watcher
    if source == nil { open() }
  }

  func remove(_ watcher: any FileEventReceiver) {
    watchers[ObjectIdentifier(watcher)] = nil
    for watch in waiting.keys {
      waiting[watch]?.remove(ObjectIdentifier(watcher))
      guard waiting[watch]?.isEmpty == true else { continue }
      waiting[watch] = nil
      inotify_rm_watch(descriptor, watch)
    }
    guard watchers.isEmpty else { return }
    source?.cancel()
    (source, descriptor, waiting) = (nil, -1, [:])
  }

  /// Watches a file for a watcher. Does nothing if there is no such file.
  func watch(_ path: String, for watcher: any FileEventReceiver) {
    guard source != nil else { return }
    let watch = inotify_add_watch(descriptor, path, mask)
    if watch >= 0 { waiting[watch, default: []].insert(ObjectIdentifier(watcher)) }
  }

  private func open() {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else { return }
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [unowned self] in read(descriptor) }
    source.setCancelHandler { close(descriptor) }
    source.activate()
    self.source = source
    self.descriptor = descriptor
  }

  private func read(_ descriptor: Int32) {
    var told: Set<ObjectIdentifier> = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
          if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { told.formUnion(watchers.keys) }
          // inotify also reports the end of a watch.
          guard event.mask & UInt32(IN_IGNORED) == 0 else {
            if !isOneShot { waiting[event.wd] = nil }
            continue
          }
          told.formUnion(waiting[event.wd] ?? [])
          if isOneShot { waiting[event.wd] = nil }
        }
      }
    }
    for watcher in told { watchers[watcher]?.hasChanged() }
  }
}
