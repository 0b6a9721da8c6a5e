import Foundation
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// One of the proofs.
protocol Verb {
  static var help: String { get }
  /// The options with their defaults; nil for one without a value.
  static var options: [String: String?] { get }
  /// Prints figures. Throws where something was found wrong.
  static func run(_ options: Options) throws
}

/// What was found wrong.
struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The options of a command line.
struct Options {
  private var values: [String: String?]
  private var given: Set<String> = []

  init(_ arguments: some Sequence<String>, allowed: [String: String?]) throws {
    values = allowed
    var rest = Array(arguments)[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), let known = allowed[String(word.dropFirst(2))] else {
        throw Wrong("\(word) isn't an option: see --help")
      }
      let name = String(word.dropFirst(2))
      given.insert(name)
      guard known != nil else { continue }
      guard let value = rest.popFirst() else { throw Wrong("\(word) needs a value") }
      values[name] = value
    }
  }

  func has(_ name: String) -> Bool { given.contains(name) }

  func text(_ name: String) -> String { (values[name] ?? nil) ?? "" }

  func number(_ name: String) throws -> Int {
    guard let number = Int(text(name)), number > 0 else {
      throw Wrong("--\(name) has to be a number")
    }
    return number
  }
}

/// Threads that each run a closure; what the first throws that throws is thrown at their end.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failure = Lock<(any Error)?>(nil)
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread.detachNewThread {
      do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
      group.leave()
    }
  }
  group.wait()
  if let error = failure.withLock({ $0 }) { throw error }
}

/// A pool with one connection.
func onePool(
  _ address: String, retryLimit: Duration? = .seconds(600), commitTokens: Bool = false
) throws -> PostgresPool {
  var configuration = PostgresConfiguration()
  configuration.connections = 1
  configuration.retryLimit = retryLimit
  configuration.commitTokens = commitTokens
  return try PostgresPool(address, configuration: configuration)
}

/// A connection to a standby, which has no serializable transactions.
func oneStandby(_ address: String) throws -> Database {
  var configuration = PostgresConfiguration()
  configuration.isolation = .repeatableRead
  return try Database.postgres(address, configuration: configuration)
}
