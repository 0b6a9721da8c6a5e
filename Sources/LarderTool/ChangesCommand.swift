import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let changes = Command(
    name: "changes", arguments: "FILE", argumentCount: 1...1,
    summary: "Follows the changes that other programs make in a database, live, until interrupted.",
    details: """
      Each line is a row: + inserted, ~ updated, - deleted; or it says what else a commit did. After each
      commit the tables are compared with their previous contents, so commits in quick succession are
      reported as one. For tables with more rows than --rows, only new rows at the end are reported. With
      --json each line is an object. The rows of a table when it is first seen aren't reported, and virtual
      tables aren't followed.

      Example:
        larder changes cities.db
        larder changes cities.db --table city --table country --json
        larder changes cities.db --count 1 && echo 'it has changed'
      """,
    options: [
      Option("table", "NAME", "follow only this table; may be given several times"),
      Option("count", "N", "end after this many lines"),
      Option("rows", "N", "compare tables of up to this many rows row by row (20,000)"),
    ]
  ) { invocation in
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let most = try invocation.integer("count", in: 1...Int.max)
    let follower = TableFollower(
      names: invocation.texts("table"), path: file.path,
      mostRows: try invocation.integer("rows", in: 0...100_000_000) ?? 20_000)
    Interruption.catchSignals()
    let following = Task {
      let queue = try file.queue()
      var isFirst = true
      var shown = 0
      for try await _ in queue.values(of: { db in try follower.look(db) }) {
        if isFirst { Output.note("larder: following \(file.path.printable)") }
        isFirst = false
        for change in follower.takeChanges() {
          print(invocation.wantsJSON ? change.json : change.line)
          shown += 1
          if shown == most { return }
        }
        try Output.finish()
      }
    }
    let alarm = Interruption.whenAsked { following.cancel() }
    defer { withExtendedLifetime(alarm) {} }
    do {
      try await following.value
    } catch let error as DatabaseError {
      throw file.failure(error)
    }
    try Interruption.check()
  }
}

/// A change that was found: of a row, of the schema, or an unknown one.
struct FollowedChange: Sendable {
  enum Operation: String, Sendable {
    case insert, update, delete
    /// Tables were created, dropped or altered.
    case schema
    /// A commit without further details.
    case commit
  }

  /// The time at which the change was found, in UTC.
  let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  let operation: Operation
  var table: String?
  /// The row's key, or the whole row if it has none.
  var key: [NamedValue] = []
  /// The old values; of an update, only those that changed.
  var old: [NamedValue] = []
  var new: [NamedValue] = []
  /// A remark, such as the change of a schema in words.
  var note: String?

  struct NamedValue: Sendable {
    let name: String
    let value: DatabaseValue

    var shown: String { value.plain.cut(to: 60) }
  }

  var line: String {
    func list(_ values: [NamedValue]) -> String {
      values.map { "\($0.name.printable)=\($0.shown)" }.joined(separator: ", ")
    }
    let clock = Style.faint(String(time.dropFirst(11)))
    let name = (table ?? "").printable
    switch operation {
    case .insert: return "\(clock)  \(Style.green("+")) \(name)  \(list(new))"
    case .delete: return "\(clock)  \(Style.red("-")) \(name)  \(list(old))"
    case .update:
      let values = zip(old, new).map { "\($1.name.printable): \($0.shown) → \($1.shown)" }
      return
        "\(clock)  \(Style.yellow("~")) \(name)  \(list(key)): \(values.joined(separator: ", "))"
    case .schema, .commit: return "\(clock)  * \((note ?? "").printable)"
    }
  }

  var json: String {
    func object(_ values: [NamedValue]) -> String? {
      let members = values.map { "\(JSONText.quoted($0.name)): \($0.value.json)" }
      return values.isEmpty ? nil : "{" + members.joined(separator: ", ") + "}"
    }
    let members = [
      ("time", JSONText.quoted(time)), ("operation", JSONText.quoted(operation.rawValue)),
      ("table", table.map(JSONText.quoted)), ("key", object(key)), ("old", object(old)),
      ("new", object(new)), ("note", note.map(JSONText.quoted)),
    ]
    let present = members.compactMap { name, value in value.map { "\"\(name)\": \($0)" } }
    return "{" + present.joined(separator: ", ") + "}"
  }
}
