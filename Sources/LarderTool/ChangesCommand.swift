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
      var shown: Int?
      for try await _ in queue.values(of: { db in try follower.look(db) }) {
        if shown == nil {
          Output.note("larder: following \(file.path.printable)")
          shown = 0
        }
        for change in follower.takeChanges() {
          print(invocation.wantsJSON ? change.json : change.line)
          shown = (shown ?? 0) + 1
          if let most, shown == most { return }
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
  let time: String
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
  }

  init(_ operation: Operation, table: String? = nil, note: String? = nil) {
    time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    self.operation = operation
    self.table = table
    self.note = note
  }

  /// The change as a line of text.
  var line: String {
    func list(_ values: [NamedValue]) -> String {
      values.map { "\($0.name.printable)=\($0.value.plain.cut(to: 60))" }.joined(separator: ", ")
    }
    let clock = Style.faint(String(time.dropFirst(11)))
    let name = (table ?? "").printable
    switch operation {
    case .insert: return "\(clock)  \(Style.green("+")) \(name)  \(list(new))"
    case .delete: return "\(clock)  \(Style.red("-")) \(name)  \(list(old))"
    case .update:
      let values = zip(old, new).map { old, new in
        "\(new.name.printable): \(old.value.plain.cut(to: 60)) → \(new.value.plain.cut(to: 60))"
      }
      return
        "\(clock)  \(Style.yellow("~")) \(name)  \(list(key)): \(values.joined(separator: ", "))"
    case .schema, .commit: return "\(clock)  * \((note ?? "").printable)"
    }
  }

  /// The change as a line of JSON.
  var json: String {
    func object(_ values: [NamedValue]) -> String {
      "{" + values.map { "\(JSONText.quoted($0.name)): \($0.value.json)" }.joined(separator: ", ")
        + "}"
    }
    var members = [
      "\"time\": \(JSONText.quoted(time))", "\"operation\": \(JSONText.quoted(operation.rawValue))",
    ]
    if let table { members.append("\"table\": \(JSONText.quoted(table))") }
    if !key.isEmpty { members.append("\"key\": \(object(key))") }
    if !old.isEmpty { members.append("\"old\": \(object(old))") }
    if !new.isEmpty { members.append("\"new\": \(object(new))") }
    if let note { members.append("\"note\": \(JSONText.quoted(note))") }
    return "{" + members.joined(separator: ", ") + "}"
  }
}
