import Larder
import LarderTerminal

extension Command {
  static let upgrade = Command(
    name: "upgrade", summary: "Brings a database of an earlier version up to date.",
    details: "With --make-old, there is something to try it on.",
    options: [
      Option("dry-run", nil, "do it to a copy that is thrown away, and tell what it did"),
      Option("make-old", nil, "make a database of the first version, with two cities"),
    ]
  ) { invocation in
    let file = try DatabaseLocation(invocation)
    if invocation.has("make-old") { return try makeOld(file) }
    let isRehearsal = invocation.has("dry-run")
    let store = try file.openAsItIs(readOnly: isRehearsal)
    try store.read { try Schema.checkIsGazetteer($0, file.name) }
    let steps = try isRehearsal ? rehearse(store) : migrate(store)
    try Output.show(steps, asJSON: invocation.wantsJSON) { steps in
      var table = TextTable("MIGRATION", "ROWS CHANGED", "MS", numbers: [1, 2])
      for step in steps {
        table.add(step.migration, step.rowsChanged?.grouped ?? "", step.milliseconds.fixed(1))
        for statement in step.statements { table.add("  " + statement, "", "") }
      }
      return table
    }
    if steps.isEmpty { Output.note("gazetteer: the database is up to date") }
  }

  private static func migrate(_ store: any DatabaseAccess) throws -> [UpgradeStep] {
    var steps: [UpgradeStep] = []
    try Schema.migrator.migrate(store) { progress in
      guard let duration = progress.duration else { return }
      steps.append(
        UpgradeStep(
          migration: progress.name, rowsChanged: nil, milliseconds: duration / .milliseconds(1)))
    }
    return steps
  }

  private static func rehearse(_ store: any DatabaseAccess) throws -> [UpgradeStep] {
    let report = try Schema.migrator.dryRun(store)
    guard report.isSuccess else { throw Failure(.database, "\(report)") }
    return report.migrations.map { migration in
      UpgradeStep(
        migration: migration.name, rowsChanged: migration.changes,
        milliseconds: migration.duration / .milliseconds(1),
        statements: migration.statements.map(\.sql.onOneLine))
    }
  }

  private static func makeOld(_ file: DatabaseLocation) throws {
    let store = try file.openOrCreate()
    guard try store.read({ try $0.schema().isEmpty }) else {
      throw Failure("\(file.name): there is a database here already")
    }
    try store.inDatabase { try Schema.makeFirst($0, isServer: file.isServer) }
    try store.inTransaction { db in
      try db.executeStatements(
        """
        INSERT INTO country VALUES
          ('NO', 'NOR', 'Norway', 'Oslo', 'EU', 324220, 5314336, 'NOK', 'no', 'FI,RU,SE');
        INSERT INTO city VALUES
          (3143244, 'Oslo', 59.91273, 10.74609, 'NO'), (3161732, 'Bergen', 60.39299, 5.32415, 'NO');
        INSERT INTO division VALUES (110000, '北京市'), (110100, '市辖区');
        """)
    }
    try store.close()
  }
}

/// A migration that was applied, or tried.
private struct UpgradeStep: Encodable {
  let migration: String
  let rowsChanged: Int?
  let milliseconds: Double
  var statements: [String] = []
}

extension String {
  fileprivate var onOneLine: String {
    split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
