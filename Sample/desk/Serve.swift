import Dispatch
import Foundation
import LarderMacros
import Synchronization

/// Whether it is time to end: Set by SIGTERM, by Ctrl-C, or by a test.
final class Ending: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }

  /// Sets it when the process is told to end. The sources last as long as what is returned.
  func onSignals() -> [any DispatchSourceSignal] {
    [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { self.set() }
      source.activate()
      return source
    }
  }
}

enum Serve {
  /// The service: workers, the audit log, figures; a line on standard input is a request.
  /// Ends when told to: lets workers end their jobs, then closes the database.
  static func run(_ address: String, workers: Int, _ ending: Ending, _ notebook: Notebook)
    async throws
  {
    let watch = Watch(notebook)
    let store = try Store.open(address, watch)
    let access = store.access
    let background = Task {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await watch.sample(access, every: .milliseconds(200)) }
        group.addTask { try await Live.audit(access) }
        group.addTask {
          try await Live.follow(access, Live.counts) {
            notebook.gauge("desk.open", Double($0.open))
            notebook.gauge("desk.jobs", Double($0.jobs))
          }
        }
        try await group.waitForAll()
      }
    }
    say("ready \(getpid())")
    answerInput(Desk(access: access))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<workers {
        group.addTask {
          try await Jobs.work(access, as: "\(getpid())/\(number)") { ending.isSet }
        }
      }
      for try await done in group { notebook.count("desk.done", done) }
    }
    background.cancel()
    _ = await background.result
    if !store.isServer { try await Live.catchUp(access) }
    try await access.close()
    say("closed after \(Int(notebook.figures["desk.done"] ?? 0)) jobs")
  }

  /// A thread that answers lines, since reading the standard input blocks.
  static func answerInput(_ desk: Desk) {
    Thread.detachNewThread {
      while let line = readLine() {
        let done = DispatchSemaphore(value: 0)
        Task {
          say(await answer(line, desk))
          done.signal()
        }
        done.wait()
      }
      // The end of the input is no reason to end: a service may have none.
    }
  }

  /// `open REF SUBJECT`, `comment REF AUTHOR TEXT`, `close REF`, `search TEXT`, `list STATE`.
  static func answer(_ line: String, _ desk: Desk) async -> String {
    let words = line.split(separator: " ", maxSplits: 3).map(String.init)
    let rest = words.dropFirst(2).joined(separator: " ")
    do {
      switch (words.first, words.count) {
      case ("open", 3...): return "ok \(try await desk.open(words[1], subject: rest).id ?? 0)"
      case ("comment", 4): try await desk.comment(words[1], words[2], words[3])
      case ("close", 2): _ = try await desk.move(desk.find(words[1]), to: .closed)
      case ("search", 2...):
        return try await desk.search(words.dropFirst().joined(separator: " "))
          .map { "\($0.reference): \($0.snippet)" }.joined(separator: "\n")
      case ("list", 2):
        guard let state = TicketState(rawValue: words[1]) else { return "error: which state?" }
        return try await desk.list(state, limit: 20)
          .map { "\($0.reference) \($0.subject) (\($1.count) comments) \($2.map(\.name))" }
          .joined(separator: "\n")
      default: return "error: open, comment, close, search or list"
      }
      return "ok"
    } catch {
      return "error: \(error)"
    }
  }
}
