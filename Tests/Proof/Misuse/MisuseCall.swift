import Foundation
import Larder
import LarderFleet
import ProofSupport

/// One use of a public call.
struct MisuseCall: Sendable {
  /// The names of what it calls, as the symbol graph has them.
  let symbols: [String]
  /// What it has to do where it can't do its work.
  let outcome: Outcome
  let run: @Sendable (MisuseStage) throws -> Void

  enum Outcome {
    /// It throws.
    case error
    /// It has a neutral value, or does nothing.
    case neutral
    /// One or the other: it needs no connection, or only sometimes.
    case either
  }

  init(
    _ symbols: String..., outcome: Outcome = .error,
    _ run: @escaping @Sendable (MisuseStage) throws -> Void
  ) {
    self.symbols = symbols
    self.outcome = outcome
    self.run = run
  }

  /// Runs it where it can't do its work: throws when it does anything but what it has to.
  func expectRefusal(_ stage: MisuseStage) throws {
    do {
      try run(stage)
    } catch {
      try Self.checkIsClear(error)
      if let error = error as? DatabaseError, error.code != .misuse, outcome == .error {
        throw WrongAnswer(description: "it throws another error than one of misuse: \(error)")
      }
      guard outcome != .neutral else {
        throw WrongAnswer(description: "it throws instead of doing nothing: \(error)")
      }
      return
    }
    if outcome == .error { throw WrongAnswer(description: "it doesn't throw") }
  }

  /// Runs it where it may work, or throw an error that tells why not.
  func expectAnswer(_ stage: MisuseStage) throws {
    do { try run(stage) } catch { try Self.checkIsClear(error) }
  }

  /// Whether an error is one of Larder's own, which says something.
  static func checkIsClear(_ error: any Error) throws {
    switch error {
    case let error as DatabaseError where error.code != .internal && !error.message.isEmpty: return
    case is ConversionError, is RecordError, is SchemaError, is MigrationError,
      is PageError, is FleetError, is UnsupportedByEngine, is CancellationError:
      return
    default: throw WrongAnswer(description: "an unclear error, \(type(of: error)): \(error)")
    }
  }
}

/// Something that is done once, in the middle of something else.
///
/// What makes it Sendable: it is set before, and run inside of, calls on one thread.
final class Meddling: @unchecked Sendable {
  private var action: (() throws -> Void)?
  private var failure: (any Error)?
  private var wasRun = false

  func set(_ action: @escaping () throws -> Void) { self.action = action }

  func run() {
    guard let action else { return }
    self.action = nil
    wasRun = true
    do { try action() } catch { failure = error }
  }

  /// Throws what the action has thrown; also where it wasn't run.
  func check() throws {
    if let failure { throw failure }
    if !wasRun { throw WrongAnswer(description: "the call wasn't made") }
  }
}

/// A value that meddles while it is bound or read.
struct MeddlingValue: DatabaseValueConvertible {
  nonisolated(unsafe) static var current: Meddling?
  init() {}
  init(databaseValue: DatabaseValue) throws { Self.current?.run() }
  var databaseValue: DatabaseValue {
    Self.current?.run()
    return "Oslo"
  }
}
