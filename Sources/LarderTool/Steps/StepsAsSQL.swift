import Larder

/// Writes steps as a script for the sqlite3 shell.
///
/// They are enclosed in SQLite's [procedure](https://www.sqlite.org/lang_altertable.html#otheralter): foreign
/// keys off, one transaction, and a check of foreign keys before its end. By default the shell continues
/// after an error, and would drop a table whose rows weren't copied; `.bail on` prevents that.
struct StepsAsSQL {
  private let plan: StepsPlan
  /// The name of a temporary table whose CHECK accepts only 0, so that inserting another value ends the
  /// script.
  private let guardName: String
  private let violationsName: String

  init(_ plan: StepsPlan) {
    self.plan = plan
    guardName = "temp." + plan.freeName("larder_check").quotedIdentifier
    violationsName = "temp." + plan.freeName("larder_violations").quotedIdentifier
  }

  /// - Parameter title: a line that says what the script does.
  func script(title: String) -> String {
    let head = "-- \(title.commented)\n"
    if plan.isEmpty { return head + "-- The schemas are the same.\n" }
    return
      ([
        head + "-- If a statement fails, nothing is changed.\n.bail on",
        "PRAGMA foreign_keys = OFF;\nBEGIN IMMEDIATE;", before,
      ] + plan.parts.map(text) + [after, "COMMIT;\nPRAGMA foreign_keys = ON;\n"])
      .joined(separator: "\n\n")
  }

  private var before: String {
    let check = "CREATE TEMP TABLE \(guardName.dropFirst("temp.".count)) (is_0 CHECK (is_0 = 0));"
    guard plan.isCheckable.after, plan.isCheckable.before else { return check }
    return check + "\n" + """
      -- The foreign keys that are broken already.
      CREATE TEMP TABLE \(violationsName.dropFirst("temp.".count)) AS
        SELECT "table", "rowid" AS row, parent FROM pragma_foreign_key_check;
      """
  }

  private var after: String {
    let end = "DROP TABLE \(guardName);"
    guard plan.isCheckable.after else {
      return
        "-- A foreign key refers to a table without such a key, so foreign keys can't be checked.\n\(end)"
    }
    let known =
      plan.isCheckable.before
      ? """

        WHERE NOT EXISTS (
          SELECT 1 FROM \(violationsName) AS old
          WHERE old."table" = new."table" AND old.row IS new."rowid" AND old.parent = new.parent)
      """ : ""
    return """
      -- Fails if foreign keys are broken that weren't before.
      INSERT INTO \(guardName)
        SELECT count(*) FROM pragma_foreign_key_check AS new\(known);
      \(end)\(plan.isCheckable.before ? "\nDROP TABLE \(violationsName);" : "")
      """
  }

  private func text(_ part: StepsPlan.Part) -> String {
    (part.comments.map { "-- \($0)" } + statements(part)).joined(separator: "\n")
  }

  private func statements(_ part: StepsPlan.Part) -> [String] {
    guard let rebuild = part.rebuild else { return part.sql.map { [$0.terminated] } ?? [] }
    let table = "main.\(rebuild.old.name.quotedIdentifier)"
    let guards = rebuild.refused.flatMap { rows in
      [
        rows.column.map { "-- Fails if the type of “\($0.commented)” would change a value." }
          ?? "-- Fails if rows would get other row ids.",
        "INSERT INTO \(guardName) SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(rows.condition));",
      ]
    }
    var lines: [String] = []
    for sql in rebuild.statements {
      let tokens = sql.sqlTokens.prefix(5)
      if tokens.first?.isWord("alter") == true {
        // Without legacy_alter_table, RENAME fails while views and triggers name the table.
        lines += [
          "PRAGMA legacy_alter_table = ON;", sql.terminated, "PRAGMA legacy_alter_table = OFF;",
        ]
      } else if tokens.first?.isWord("insert") == true {
        // The statement begins with INSERT INTO main."city rebuilt": the fifth token is the new table's name.
        guard let name = tokens.last?.name else { continue }
        lines += sequence(rebuild, name) + [sql.terminated] + count(rebuild, table, name)
      } else {
        lines.append(sql.terminated)
      }
    }
    return guards + lines
  }

  /// Copies AUTOINCREMENT's counter, so that used keys aren't reused.
  private func sequence(_ rebuild: StepsPlan.Rebuild, _ name: String) -> [String] {
    guard rebuild.old.isAutoincrement, rebuild.new.isAutoincrement else { return [] }
    return [
      """
      INSERT INTO main.sqlite_sequence (name, seq)
        SELECT \(name.quotedText), seq FROM main.sqlite_sequence WHERE name = \(rebuild.old.name.quotedText);
      """
    ]
  }

  /// Compares the numbers of rows, if the table has a conflict clause: otherwise INSERT copies all rows or
  /// fails.
  private func count(_ rebuild: StepsPlan.Rebuild, _ table: String, _ name: String) -> [String] {
    guard !rebuild.new.conflictClauses.isEmpty else { return [] }
    return [
      "-- Fails if rows were left out.",
      """
      INSERT INTO \(guardName)
        SELECT (SELECT count(*) FROM \(table)) - (SELECT count(*) FROM main.\(name.quotedIdentifier));
      """,
    ]
  }
}

extension StepsPlan.Part {
  /// The comment lines above the step.
  var comments: [String] {
    let detail = self.detail.commented
    let first =
      isDestructive
      ? "DESTRUCTIVE: \(detail)" : detail.prefix(1).uppercased() + detail.dropFirst()
    return [first] + remarks.map(\.commented)
  }
}
