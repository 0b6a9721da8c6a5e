import Dispatch
import Glibc

/// An object that is told of events of files, on the queue of ``FileEvents``.
protocol FileEventReceiver: AnyObject, Sendable {
  func hasChanged()
}

/// An inotify instance, of which a user may have few (128 by default), shared by all who watch files for the same
/// events, as long as there are any.
///
/// See [inotify(7)](https://man7.org/linux/man-pages/man7/inotify.7.html).
///
/// What makes it Sendable: all happens on its queue, on which the watchers run too.
final class FileEvents: @unchecked Sendable {
  /// Events of files that are written; each watch is for one event.
  static let writes = FileEvents(
    "larder.watch", IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF, isOneShot: true)
  /// Events of files that are moved or removed, which costs those who write nothing. (Another instance: each has one
  /// watch of a file.)
  static let moves = FileEvents("larder.watch.moves", IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

  let queue: DispatchQueue
  private let mask: UInt32
  private let isOneShot: Bool
  private var descriptor: Int32 = -1
  private var source: (any DispatchSourceRead)?
  private var watchers: [ObjectIdentifier: any FileEventReceiver] = [:]
  /// Who waits for an event of a watch.
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

  /// Tells a watcher of the next event of a file, if there is such a file.
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
          // The end of a watch is told as well.
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
