import FoundationEssentials
import Glibc
import LarderSQLite

/// The record of which file a database's points in a folder are made from: `.larder-owner-IDENTITY`, with the
/// file's identity and path.
///
/// Databases that were copied or restored by hand have the identity of their original, also if that is no
/// longer where it was. Without the record, each would remove the other's points as its own.
struct PointOwner: Sendable {
  private let path: String
  private let place: Place

  private struct Place: Equatable {
    let file: String
    let path: String

    var text: String { file + "\n" + path + "\n" }

    /// Whether it is the same file: perhaps moved, or replaced at its path.
    func isSame(as other: Place) -> Bool {
      !file.isEmpty && file == other.file || path.isSame(as: other.path)
    }
  }

  init(of identity: DatabaseIdentity, at location: FileLocation, in folder: String) {
    path = folder + "/.larder-owner-" + identity.text
    place = Place(file: DatabaseIdentity.description(of: location.identity), path: location.path)
  }

  /// Records the file, unless another one makes the points of this identity. Returns whether this one does.
  ///
  /// - Parameter succeeds: whether it may succeed another file that isn't at its path any more. A backup
  ///   that is under way doesn't: the other one may be alive on another machine.
  func claim(succeeds: Bool) throws -> Bool {
    let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw error() }
    defer { close(file) }
    // Others hold the lock as briefly as this does.
    while flock(file, LOCK_EX) != 0 { guard errno == EINTR else { throw error() } }
    let found = try read(file)
    if found == place { return true }
    if let found, !found.isSame(as: place) {
      guard succeeds, access(found.path, F_OK) != 0 else { return false }
    }
    let text = Array(place.text.utf8)
    guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count else {
      throw error()
    }
    return true
  }

  /// Nil if there is no record, or only the part of one that a killed process has begun.
  private func read(_ file: Int32) throws -> Place? {
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw error() }
    let text = bytes[..<count]
    guard text.last == UInt8(ascii: "\n"), let end = text.firstIndex(of: UInt8(ascii: "\n")),
      end < count - 1
    else { return nil }
    return Place(
      file: String(decoding: text[..<end], as: UTF8.self),
      path: String(decoding: text[(end + 1)..<(count - 1)], as: UTF8.self))
  }

  private func error() -> DatabaseError {
    let code: ResultCode = errno == ENOSPC ? .full : .cannotOpen
    return DatabaseError(code, "\(path): \(String(cString: strerror(errno)))")
  }
}
