import Foundation
import LarderSQLite
import TestSupport

/// A Unix socket before the server's, which cuts the connection after so many bytes, or never passes any on.
package final class Proxy: Sendable {
  private let scratch: Lock<ScratchFolder>
  private let listener: Int32
  private let server: String
  /// For how long an answer is held back for what the client sends without waiting for it, in milliseconds.
  private let patience: Int32
  private let state = Lock(State())

  private struct State {
    var connectionCount = 0
    var bytesUntilCut = Int.max
    var cutsOnce = false
    /// How often all connections were cut.
    var cutCount = 0
    var passed = 0
    /// How often a client has sent something, and then waited for an answer.
    var roundTrips = 0
    var isFrozen = false

    /// Counts bytes: whether the connections are to be cut behind them.
    mutating func pass(_ count: Int) -> Bool {
      passed += count
      guard bytesUntilCut != .max else { return false }
      bytesUntilCut -= count
      guard bytesUntilCut <= 0 else { return false }
      if cutsOnce { bytesUntilCut = .max }
      cutCount += 1
      return true
    }
  }

  package var folder: String { scratch.withLock { $0.path } }

  /// - Parameter countsRoundTrips: whether ``roundTrips`` is asked for, for which answers are held back a little: what a
  ///   client sends in several parts is one round trip, also where the server has answered the first.
  package init(to server: String, isSilent: Bool = false, countsRoundTrips: Bool = false) throws {
    self.server = server
    patience = countsRoundTrips ? 5 : 0
    scratch = Lock(try ScratchFolder())
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let listener = listener
    let isOpen = Self.withAddress(folder) { bind(listener, $0, $1) == 0 }
    guard isOpen, listen(listener, 64) == 0 else { throw POSIXError(.EIO) }
    state.withLock { $0.isFrozen = isSilent }
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { return }
        // A program that a test starts meanwhile, such as a server, would keep the connection open after it was cut.
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        self.state.withLock { $0.connectionCount += 1 }
        Thread.detachNewThread { self.serve(client) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func withAddress<T>(
    _ folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
  ) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: (folder + "/.s.PGSQL.5432").utf8.prefix(107))
    }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Waits until somebody has connected.
  package func waitForConnection() {
    while state.withLock({ $0.connectionCount }) == 0 { usleep(1000) }
  }

  /// Passes this many more bytes on, of both directions together, and then cuts all connections.
  ///
  /// - Parameter once: whether those that are made afterwards are left alone.
  package func cut(after bytes: Int, once: Bool = false) {
    state.withLock { state in
      state.bytesUntilCut = bytes
      state.cutsOnce = once
    }
  }

  /// How often clients have sent something and then waited for the answer.
  package var roundTrips: Int { state.withLock { $0.roundTrips } }

  /// How often all connections were cut, and how many bytes were passed on, of both directions together.
  package var statistics: (cuts: Int, bytes: Int) {
    state.withLock { ($0.cutCount, $0.passed) }
  }

  /// Passes nothing on any more.
  package func freeze() { state.withLock { $0.isFrozen = true } }

  private func serve(_ client: Int32) {
    defer { close(client) }
    let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(upstream) }
    guard Self.withAddress(server, { connect(upstream, $0, $1) == 0 }) else { return }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let cutCount = state.withLock { $0.cutCount }
    var isAnswered = false
    while true {
      var files = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = poll(&files, 2, 20)
      let (isFrozen, allowed, isCut) = state.withLock {
        ($0.isFrozen, $0.bytesUntilCut, $0.cutCount != cutCount)
      }
      if allowed <= 0 || isCut { return }
      guard count > 0, !isFrozen else {
        if isFrozen { usleep(5000) }
        // By the hang-up, not by an end of the input, before which there may be bytes that are never passed on.
        // A server's session that stayed would be idle in its transaction, and while an old one is, serializable
        // transactions that write the same row fail again and again, in all databases of the server.
        if isFrozen, files[0].revents & Int16(POLLHUP) != 0 { return }
        continue
      }
      for index in 0..<2 where files[index].revents != 0 {
        if index == 1, !isAnswered, patience > 0 {
          var more = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
          if poll(&more, 1, patience) > 0 { break }
        }
        let count = read(files[index].fd, &buffer, min(buffer.count, allowed))
        guard count > 0 else { return }
        // The first that comes back of what was sent ends a round trip.
        let ends = index == 1 && !isAnswered
        isAnswered = index == 1
        if ends { state.withLock { $0.roundTrips += 1 } }
        let sent = send(files[1 - index].fd, buffer, count, Int32(MSG_NOSIGNAL))
        guard sent == count else { return }
        if state.withLock({ $0.pass(count) }) { return }
      }
    }
  }
}
