import Foundation
import Larder
import ProofSupport

/// Where a call is made from.
struct MisuseSituation: Sendable {
  let name: String
  /// Makes the call, and throws what is wrong with what it does, or leaves.
  let make: @Sendable (MisuseCall, _ folder: String) throws -> Void

  init(_ name: String, _ make: @escaping @Sendable (MisuseCall, String) throws -> Void) {
    self.name = name
    self.make = make
  }

  static let all = refusals + callbacks + closures

  private static let transactionCalls: Set = [
    "Database.begin(_:)", "Database.commit()", "Database.rollback()",
  ]

  /// Where no call can do its work.
  private static let refusals =
    [
      MisuseSituation("on a closed database") { call, folder in
        let stage = try MisuseStage(try MisuseStage.open(folder), folder)
        try stage.db.close()
        try call.expectRefusal(stage)
        try MisuseStage.check(stage.db, folder)
      }
    ]
    + MisuseScope.all.flatMap { scope in
      [
        MisuseSituation("after the scope of \(scope.name)") { call, folder in
          let access = try scope.open(folder)
          let stage = try scope.leak(access, folder)
          try call.expectRefusal(stage)
          try access.close()
          try MisuseStage.check(nil, folder)
        },
        MisuseSituation("in a later scope of \(scope.name)") { call, folder in
          let access = try scope.open(folder)
          let stage = try scope.leak(access, folder)
          // The database is the same one, and may be used again.
          try clearly { try scope.enter(access) { _ in try call.expectAnswer(stage) } }
          try access.close()
          try MisuseStage.check(nil, folder)
        },
        MisuseSituation("on another thread than the scope of \(scope.name)") { call, folder in
          let access = try scope.open(folder)
          // An interrupt may reach the end of the scope.
          try clearly {
            try scope.enter(access) { db in
              let stage = try MisuseStage(db, folder)
              try Elsewhere.onThread { try call.expectRefusal(stage) }
            }
          }
          try access.close()
          try MisuseStage.check(nil, folder)
        },
        MisuseSituation("in the scope of \(scope.name)") { call, folder in
          let access = try scope.open(folder)
          let meddling = Meddling()
          try clearly {
            try scope.enter(access) { db in
              let stage = try MisuseStage(db, folder)
              meddling.set {
                // A transaction of the scope isn't for the closure to begin or end.
                if scope.isTransaction, !transactionCalls.isDisjoint(with: call.symbols) {
                  try call.expectRefusal(stage)
                } else {
                  try call.expectAnswer(stage)
                }
              }
              meddling.run()
            }
          }
          try meddling.check()
          try access.read {
            try WrongAnswer.check($0.value("SELECT 7", as: Int.self), 7, "the answer")
          }
          try access.close()
          try MisuseStage.check(nil, folder)
        },
      ]
    }

  /// Runs a closure whose call may throw, but nothing unclear.
  static func clearly(_ body: () throws -> Void) throws {
    do { try body() } catch let error as WrongAnswer { throw error } catch {
      try MisuseCall.checkIsClear(error)
    }
  }

  /// A situation inside of something that runs with a database of its own.
  static func inside(
    _ name: String,
    configure: @escaping @Sendable (inout Configuration, Meddling) -> Void = { _, _ in },
    _ body:
      @escaping @Sendable (Database, Meddling, _ call: MisuseCall, _ folder: String) throws ->
      Void
  ) -> MisuseSituation {
    MisuseSituation("inside of \(name)") { call, folder in
      let meddling = Meddling()
      let db = try MisuseStage.open(folder) { configure(&$0, meddling) }
      try clearly { try body(db, meddling, call, folder) }
      try meddling.check()
      try MisuseStage.check(db, folder)
    }
  }
}

/// A kind of scope.
struct MisuseScope: Sendable {
  let name: String
  let isPool: Bool
  /// Whether the scope begins a transaction and ends it.
  var isTransaction = true
  let enter: @Sendable (any DatabaseAccess, (Database) throws -> Void) throws -> Void

  static let all = [false, true].flatMap { isPool in
    let name = isPool ? "a pool" : "a queue"
    return [
      MisuseScope(name: "\(name)'s inDatabase", isPool: isPool, isTransaction: false) {
        access, body in
        try access.inDatabase { try body($0) }
      },
      MisuseScope(name: "\(name)'s inTransaction", isPool: isPool) { access, body in
        try access.inTransaction { try body($0) }
      },
      MisuseScope(name: "\(name)'s inSavepoint", isPool: isPool) { access, body in
        try access.inSavepoint { try body($0) }
      },
      MisuseScope(name: "\(name)'s read", isPool: isPool) { access, body in
        try access.read { try body($0) }
      },
    ]
  }

  func open(_ folder: String, isDurable: Bool = false) throws -> any DatabaseAccess {
    let path = MisuseStage.path(folder)
    var configuration = MisuseStage.configuration
    if isDurable { configuration.synchronous = .full }
    return isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
  }

  /// What a scope lets out.
  func leak(_ access: any DatabaseAccess, _ folder: String) throws -> MisuseStage {
    var stage: MisuseStage?
    try enter(access) { stage = try MisuseStage($0, folder) }
    guard let stage else { throw WrongAnswer(description: "the scope hasn't run") }
    return stage
  }
}
