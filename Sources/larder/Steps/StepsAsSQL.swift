import Larder
import LarderSQLite

/// Writes steps as a script for the sqlite3 shell.
///
/// SQLite's [procedure](https://www.sqlite.org/lang_altertable.html#otheralter) is around all of them: foreign
/// keys off, one transaction, and a check of foreign keys before its end. The shell goes on after an error unless
/// it is told not to, and would drop a table whose rows were not copied.
struct StepsAsSQL {
  private let plan: StepsPlan
  /// The temporary table that takes nothing but 0, so that anything else ends the script.
  private let guardName: String
  private let violationsName: String

  init(_ plan: StepsPlan) {
    self.plan = plan
    guardName = "temp." + plan.freeName("larder_check").quotedIdentifier
    violationsName = "temp." + plan.freeName("larder_violations").quotedIdentifier
  }

  /// - Parameter title: what the script does, in a line.
  func script(title: String) -> String {
    let head = "-- \(title.commented)\n"
    if plan.isEmpty { return head + "-- The schemas are the same.\n" }
    return
      ([
        head + "-- Nothing of it stays where a statement fails.\n.bail on",
        "PRAGMA foreign_keys = OFF;\nBEGIN IMMEDIATE;", before,
      ] + plan.parts.map(text) + [after, "COMMIT;\nPRAGMA foreign_keys = ON;\n"])
      .joined(separator: "\n\n")
  }

  private var before: String {
    let check = "CREATE TEMP TABLE \(guardName.dropFirst("temp.".count)) (is_0 CHECK (is_0 = 0));"
    guard plan.isCheckable.after, plan.isCheckable.before else { return check }
    return check + "\n" + """
      -- The foreign keys that point nowhere already.
      CREATE TEMP TABLE \(violationsName.dropFirst("temp.".count)) AS
        SELECT "table", "rowid" AS row, parent FROM pragma_foreign_key_check;
      """
  }

  private var after: String {
    let end = "DROP TABLE \(guardName);"
    guard plan.isCheckable.after else {
      return
        "-- A foreign key refers to a table without the key that it means: none can be checked.\n\(end)"
    }
    let known =
      plan.isCheckable.before
      ? """

        WHERE NOT EXISTS (
          SELECT 1 FROM \(violationsName) AS old
          WHERE old."table" = new."table" AND old.row IS new."rowid" AND old.parent = new.parent)
      """ : ""
    return """
      -- Fails where foreign keys point nowhere that didn't before.
      INSERT INTO \(guardName)
        SELECT count(*) FROM pragma_foreign_key_check AS new\(known);
      \(end)\(plan.isCheckable.before ? "\nDROP TABLE \(violationsName);" : "")
      """
  }

  // MARK: Steps

  private func text(_ part: StepsPlan.Part) -> String {
    (part.comments.map { "-- \($0)" } + statements(part)).joined(separator: "\n")
  }

  private func statements(_ part: StepsPlan.Part) -> [String] {
    guard let rebuild = part.rebuild else { return part.step.sql.map { [$0.terminated] } ?? [] }
    let table = "main.\(rebuild.old.name.quotedIdentifier)"
    let guards = rebuild.refused.flatMap { rows in
      [
        rows.column.map { "-- Fails where the type of “\($0.commented)” would make another value." }
          ?? "-- Fails where rows would get other row ids.",
        "INSERT INTO \(guardName) SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(rows.condition));",
      ]
    }
    var lines: [String] = []
    for sql in rebuild.statements {
      let tokens = sql.sqlTokens.prefix(5)
      switch Self.Kind(tokens.first) {
      // Not as ALTER TABLE does it by itself: that refuses while views and triggers name the table.
      case .alter:
        lines += [
          "PRAGMA legacy_alter_table = ON;", sql.terminated, "PRAGMA legacy_alter_table = OFF;",
        ]
      case .insert:
        // INSERT INTO main."city rebuilt"
        guard let name = tokens.last?.name else { continue }
        lines += sequence(rebuild, name) + [sql.terminated] + count(rebuild, table, name)
      case .other: lines.append(sql.terminated)
      }
    }
    return guards + lines
  }

  private enum Kind {
    case alter, insert, other

    init(_ token: SQLPiece?) {
      self =
        token?.isWord("alter") == true
        ? .alter : token?.isWord("insert") == true ? .insert : .other
    }
  }

  /// Keys that were used once are not used again.
  private func sequence(_ rebuild: StepsPlan.Rebuild, _ name: String) -> [String] {
    guard rebuild.old.isAutoincrement, rebuild.new.isAutoincrement else { return [] }
    return [
      """
      INSERT INTO main.sqlite_sequence (name, seq)
        SELECT \(name.quotedText), seq FROM main.sqlite_sequence WHERE name = \(rebuild.old.name.quotedText);
      """
    ]
  }

  /// INSERT takes all rows or fails, unless the table has a conflict clause of its own.
  private func count(
    _ rebuild: StepsPlan.Rebuild, _ table: String, _ name: String
  ) -> [String] {
    guard !rebuild.new.conflictClauses.isEmpty else { return [] }
    return [
      "-- Fails where rows were left out.",
      """
      INSERT INTO \(guardName)
        SELECT (SELECT count(*) FROM \(table)) - (SELECT count(*) FROM main.\(name.quotedIdentifier));
      """,
    ]
  }
}

extension StepsPlan.Part {
  /// What stands above the step, a line each.
  var comments: [String] {
    let detail = step.detail.commented
    return [
      step.isDestructive
        ? "DESTRUCTIVE: \(detail)" : detail.prefix(1).uppercased() + detail.dropFirst()
    ]
      + remarks.map(\.commented)
  }
}

extension String {
  /// The text as a string of SQL.
  fileprivate var quotedText: String { "'" + replacing("'", with: "''") + "'" }
}
