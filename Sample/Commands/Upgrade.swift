import Larder

extension Command {
  static let upgrade = Command(
    name: "upgrade", summary: "Brings a database of an earlier version up to date.",
    details: "With --make-old, there is something to try it on.",
    options: [
      Option("dry-run", nil, "do it to a copy that is thrown away, and tell what it did"),
      Option("make-old", nil, "make a database of the first version, with two cities"),
    ]
  ) { invocation in
    let file = try DatabaseFile(invocation)
    if invocation.has("make-old") { return try makeOld(file) }
    let isRehearsal = invocation.has("dry-run")
    let queue = try file.openAsItIs(readOnly: isRehearsal)
    try queue.read(Schema.checkIsGazetteer)
    let steps = try isRehearsal ? rehearse(queue) : migrate(queue)
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

  private static func migrate(_ queue: DatabaseQueue) throws -> [UpgradeStep] {
    var steps: [UpgradeStep] = []
    try Schema.migrator.migrate(queue) { progress in
      guard let duration = progress.duration else { return }
      steps.append(
        UpgradeStep(
          migration: progress.name, rowsChanged: nil, milliseconds: duration / .milliseconds(1)))
    }
    return steps
  }

  private static func rehearse(_ queue: DatabaseQueue) throws -> [UpgradeStep] {
    let report = try Schema.migrator.dryRun(queue)
    guard report.isSuccess else { throw Failure(.database, "\(report)") }
    return report.migrations.map { migration in
      UpgradeStep(
        migration: migration.name, rowsChanged: migration.changes,
        milliseconds: migration.duration / .milliseconds(1),
        statements: migration.statements.map(\.sql.onOneLine))
    }
  }

  private static func makeOld(_ file: DatabaseFile) throws {
    let queue = try file.openOrCreate()
    guard try queue.read({ try $0.schema().isEmpty }) else {
      throw Failure("\(file.path): there is a database here already")
    }
    try queue.inTransaction { db in
      try db.executeStatements(Schema.firstTables)
      try db.executeStatements(
        """
        INSERT INTO country VALUES
          ('NO', 'NOR', 'Norway', 'Oslo', 'EU', 324220, 5314336, 'NOK', 'no', 'FI,RU,SE');
        INSERT INTO city VALUES
          (3143244, 'Oslo', 59.91273, 10.74609, 'NO'), (3161732, 'Bergen', 60.39299, 5.32415, 'NO');
        INSERT INTO division VALUES (110000, '北京市'), (110100, '市辖区');
        """)
      try db.setUserVersion(1)
    }
    try queue.close()
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
