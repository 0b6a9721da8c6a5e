import Larder
import LarderSQLite

// Signals that wake waiting workers: notifications that are sent only if somebody waits. A transaction that
// notifies commits alone, which on a server that syncs takes time from others.
//
// A session that waits holds a shared lock. Whoever signals tries the exclusive one, and holds it until its
// transaction ends. So either it finds out that somebody waits, or the lock of whoever begins to wait is had
// only after its commit, which the look that follows then sees.

extension PostgresEngine: EngineSignals {
  var signalSource: (any EngineSignalSource)? { servers.tables.signals }

  func signal(_ channel: String, _ text: String) throws {
    // Longer ones aren't sent: an empty one is about everything.
    let text = text.utf8.count < 2_000 ? text : ""
    try perform(until: soon) {
      _ = try connection.run(
        all: [
          """
          SELECT CASE WHEN pg_catalog.pg_try_advisory_xact_lock(\(WaitingMarks.key(channel))) THEN 0
            WHEN pg_catalog.pg_notify(\(channel.quotedText), \(text.quotedText)) IS NULL THEN 1 ELSE 1
            END::bigint
          """
        ])
    }
  }
}

extension ServerListener: EngineSignalSource {
  func receiveSignals(
    on channel: String, _ ring: @escaping @Sendable (String?) -> Void
  ) throws -> any EngineSignalReception {
    let id = try subscribe(to: channel) { event in
      switch event {
      case .listening, .failed, .closed: ring(nil)
      case .payloads(let texts): for text in Set(texts) { ring(text.isEmpty ? nil : text) }
      case .touched: break
      }
    }
    return SignalReception(self, id)
  }
}

private final class SignalReception: EngineSignalReception {
  private let listener: ServerListener
  private let id: Int

  init(_ listener: ServerListener, _ id: Int) {
    self.listener = listener
    self.id = id
  }

  deinit { listener.unsubscribe(id) }

  func wait(_ isWaiting: Bool) { listener.wait(isWaiting, id) }
}

/// The locks by which a session shows that somebody waits for the signals of channels.
struct WaitingMarks {
  private var held: Set<String> = []
  /// When to try again to get those that somebody has kept from being had, in nanoseconds.
  private(set) var nextTry = Int.max

  /// The key of a channel's lock, in SQL.
  static func key(_ channel: String) -> String {
    "pg_catalog.hashtextextended(\("larder \(channel)".quotedText), 0)"
  }

  /// Takes and releases locks. Returns the channels whose receivers have to look now.
  mutating func update(
    _ wanted: Set<String>, on connection: PostgresConnection
  ) throws -> Set<String> {
    nextTry = .max
    for channel in held.subtracting(wanted) {
      _ = try connection.run(
        all: ["SELECT pg_catalog.pg_advisory_unlock_shared(\(Self.key(channel)))::int::bigint"])
      held.remove(channel)
    }
    let missing = wanted.subtracting(held)
    for channel in missing {
      let row = try connection.run(
        all: ["SELECT pg_catalog.pg_try_advisory_lock_shared(\(Self.key(channel)))::int::bigint"])
      if row?.first == 1 {
        held.insert(channel)
      } else {
        // Somebody is putting something in, and notifies nobody.
        nextTry = MonotonicClock.nanoseconds + 20_000_000
      }
    }
    return missing
  }
}
