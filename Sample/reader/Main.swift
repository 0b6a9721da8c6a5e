import Dispatch
import Foundation
import LarderMacros

/// A feed reader's service: accounts, feeds, entries, full text, live counts, jobs, an outbox.
///
///     reader ADDRESS [PORT]
///
/// The address is a path, `:memory:`, or that of a PostgreSQL server. `READER_COPY` names a folder to which a file is
/// replicated, and `READER_OPEN=1` lets other machines connect.
@main
struct Main {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let address = arguments.first else {
      say("reader ADDRESS [PORT]")
      exit(2)
    }
    do {
      try await serve(address, port: arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080)
    } catch {
      say("reader: \(error)")
      exit(1)
    }
  }

  static func serve(_ address: String, port: UInt16) async throws {
    let environment = ProcessInfo.processInfo.environment
    let store = try Store.open(address)
    let copy = try environment["READER_COPY"].map { try store.replicate(to: $0) } ?? nil
    let reader = Reader(access: store.access)
    let background = Task { try await Background.run(store.access) }
    let live = Task {
      try await reader.follow { counts in say("entries \(counts.entries), read \(counts.read)") }
    }
    let server = try Server(port: port, isOpen: environment["READER_OPEN"] == "1")
    server.run(Requests(reader: reader))
    say("ready on \(server.port)")

    await toldToEnd()
    // Nothing new comes in; what has begun ends; the database is closed last.
    server.close()
    live.cancel()
    background.cancel()
    _ = try? await live.value
    try await background.value
    _ = try await copy?.ship()
    copy?.cancel()
    try await store.access.close()
    say("closed")
  }

  /// Waits for SIGTERM, which orchestrators send, or for Ctrl-C.
  static func toldToEnd() async {
    let (signals, stream) = AsyncStream.makeStream(of: Void.self)
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { stream.yield() }
      source.activate()
      return source
    }
    for await _ in signals { break }
    for source in sources { source.cancel() }
  }
}
