import Larder

/// What a caller was told of a scope.
enum Outcome: Hashable, Sendable, CustomStringConvertible {
  case returned
  /// The closure's own error.
  case doubt
  case cancelled
  case failed(ResultCode)
  case other(String)

  init(_ error: any Error) {
    switch error {
    case is Doubt: self = .doubt
    case is CancellationError: self = .cancelled
    case let error as DatabaseError: self = .failed(error.extendedCode)
    default: self = .other("\(error)")
    }
  }

  struct Doubt: Error {}

  var description: String {
    switch self {
    case .returned: "returned"
    case .doubt: "the closure's error"
    case .cancelled: "CancellationError"
    case .failed(let code): "\(code)"
    case .other(let text): text
    }
  }
}

extension ResultCode {
  /// A sync failed: nobody knows what is on disk.
  static let failedSync = ResultCode(rawValue: 1034)
}

/// One scope of one caller.
struct ScopeName: Hashable, Sendable, CustomStringConvertible {
  let caller: Int
  let step: Int

  var description: String { "caller \(caller), step \(step)" }
}

/// What was seen and told while a schedule ran.
struct ScheduleLedger: Sendable {
  /// The beginning of a closure that has the writer.
  struct Visit: Sendable {
    let name: ScopeName
    /// How many rows of the log it saw.
    let seen: Int
    /// How many writes to the file's log there had been.
    let written: Int
  }

  struct Told: Sendable {
    let name: ScopeName
    let outcome: Outcome
    /// How many writes to the file's log were on disk by then.
    let synced: Int
    /// What a read saw.
    let reading: Reading?
    /// How many rows another connection saw by then; nil where none looked.
    let committed: Int?
  }

  struct Reading: Sendable {
    /// Rows of the log.
    let entries: Int
    /// Those of this caller.
    let own: Int
  }

  /// In the order of the writer's turns.
  var visits: [Visit] = []
  /// In the order in which they were told.
  var told: [Told] = []
  /// How many scopes of tasks have run on the thread that the task was on.
  var atOnceCount = 0
  var problems: [String] = []
}
