import Larder
import LarderTerminal

extension Command {
  static let diff = Command(
    name: "diff", arguments: "A B", argumentCount: 2...2,
    summary: "Shows how the schemas of two databases differ, and the steps that make A like B.",
    details: """
      A and B are databases, servers' (postgres://user@host/database), or files that “larder schema FILE --json”
      has written. Neither is changed.
      The order of columns and the names of indexes are only told: with --strictly they count as differences.
      Tables in which programs keep the history of their migrations, as “grdb_migrations”, are left out.
      Steps that lose something are marked. A rebuild recreates a table with its rows. As a script for the
      sqlite3 shell, or a migration in Swift, the steps keep all rows, or fail and change nothing if the new
      schema can't hold them; read them, and decide what their comments ask.

      Example:
        larder diff old.db new.db
        larder diff old.db new.db --sql > steps.sql   # and then: sqlite3 old.db < steps.sql
        larder diff old.db new.db --swift --name "add mayors" > AddMayors.swift
        larder diff cities.db schema.json --check     # in CI: status 1 if they differ
      """,
    options: [
      Option("check", nil, "end with status 1 if they differ"),
      Option(
        "strictly", nil,
        "also count differences of wording, the order of columns, and the names of indexes"),
      Option("sql", nil, "print the steps as a script for the sqlite3 shell"),
      Option("swift", nil, "print the steps as a migration in Swift"),
      Option("name", "NAME", "with --swift: the migration's name"),
      .schema,
    ]
  ) { invocation in
    let form = try StepsForm(invocation)
    let old = try Schema.read(invocation.arguments[0], invocation).withoutHistories
    let new = try Schema.read(invocation.arguments[1], invocation).withoutHistories
    guard old.isOfServer == new.isOfServer || old.tables.isEmpty || new.tables.isEmpty else {
      throw Failure(
        .usage,
        "a file's schema and a server's use different SQL; “larder copy --schema-only” makes one like the other"
      )
    }
    let difference = SchemaDifference(from: old, to: new, strictly: invocation.has("strictly"))
    if let form {
      print(try form.text(from: old, to: new, invocation), terminator: "")
    } else {
      try invocation.show(difference, difference.lines)
    }
    if invocation.has("check"), !difference.isEmpty { throw Failure("") }
  }
}

/// The forms in which the steps can be printed, apart from the list.
private enum StepsForm {
  case sql
  case swift(name: String?)

  /// The form that the options ask for; nil if they ask for neither.
  init?(_ invocation: Invocation) throws {
    let (isSQL, isSwift) = (invocation.has("sql"), invocation.has("swift"))
    guard [isSQL, isSwift, invocation.wantsJSON].count(where: { $0 }) < 2 else {
      throw Failure(.usage, "--sql, --swift and --json exclude one another")
    }
    guard isSwift || !invocation.has("name") else {
      throw Failure(.usage, "--name is the name of a migration, and needs --swift")
    }
    guard invocation.text("name") != "" else {
      throw Failure(.usage, "the name of a migration can't be empty")
    }
    guard isSQL || isSwift else { return nil }
    self = isSQL ? .sql : .swift(name: invocation.text("name"))
  }

  func text(from old: Schema, to new: Schema, _ invocation: Invocation) throws -> String {
    guard !old.isOfServer, !new.isOfServer else {
      throw Failure(.usage, "--sql and --swift are only for SQLite databases")
    }
    let names = invocation.arguments.map(\.lastComponent)
    let command = (["larder", "diff"] + names).map(\.shellWord).joined(separator: " ")
    let plan = try StepsPlan(from: old, to: new)
    switch self {
    case .sql:
      return StepsAsSQL(plan).script(
        title: "Makes the schema of \(names[0]) like that of \(names[1]): \(command) --sql")
    case .swift(let name):
      let name = name ?? "as in \(names[1])"
      return try StepsAsSwift(plan, from: old, to: new, name: name).file(
        title: "Makes the schema of \(names[0]) like that of \(names[1]): \(command) --swift")
    }
  }
}

extension Schema {
  /// Whether the schema is another engine's than SQLite's.
  fileprivate var isOfServer: Bool { tables.contains { $0.engine != nil } }

  /// The schema without the tables in which programs keep the history of their migrations.
  fileprivate var withoutHistories: Schema {
    var schema = self
    schema.tables.removeAll { Schema.isBookkeeping($0.name) || Schema.isHistoryOfOthers($0.name) }
    return schema
  }
}
