import Larder
import LarderTerminal

/// Writes steps as a migration in Swift.
///
/// If each step is a statement, it is a migration of SQL, whose checksum reveals later changes. If tables are
/// rebuilt, it is a closure that calls Larder's rebuild.
struct StepsAsSwift {
  private let plan: StepsPlan
  /// The migration's name, which must never change later.
  private let name: String

  /// Throws ``Failure`` if a statement has a string in double quotes, which Larder's connections take for a
  /// name.
  init(_ plan: StepsPlan, from old: Schema, to new: Schema, name: String) throws {
    (self.plan, self.name) = (plan, name)
    let rebuilt = Set(plan.parts.compactMap(\.rebuild?.new.name.foldedName))
    let known = Set(old.tables.flatMap(\.statements))
    let db = try Database()
    for table in new.tables {
      for sql in table.statements {
        do {
          try db.executeUpdate(SQL(raw: sql))
        } catch let error as DatabaseError
          where rebuilt.contains(table.name.foldedName) || !known.contains(sql)
        {
          throw Failure(
            "a migration can't create “\(table.name)” as it is, since it reads strings in double quotes as names: \(error.message)"
          )
        } catch is DatabaseError {}
      }
    }
  }

  /// - Parameter title: a line that says what the migration does.
  func file(title: String) -> String {
    let head = "// \(title.commented)\n"
    if plan.isEmpty { return head + "// The schemas are the same.\n" }
    let property = SwiftName.written(SwiftName.property(name) ?? "migration")
    return """
      \(head)
      import Larder

      extension Migration {
        static let \(property) = Migration(\(plan.hasRebuild ? closure : sql)
      }

      """
  }

  private var sql: String {
    let statements = plan.parts.map { part in
      (part.comments.map { "-- \($0)" } + [part.sql?.terminated ?? ""]).joined(separator: "\n")
    }
    let text = statements.joined(separator: "\n").swiftText(indent: "      ")
    return "\n    \(name.swiftLiteral),\n    sql: \(text))"
  }

  private var closure: String {
    let rebuilt = plan.parts.compactMap(\.rebuild?.new)
    let model = rebuilt.flatMap(\.statements).map(\.terminated).joined(separator: "\n")
    let steps = plan.parts.map { part in
      part.comments.map { "    // \($0)\n" }.joined() + "    " + call(part) + "\n"
    }
    return """
      \(name.swiftLiteral)) { db in
          // The tables to rebuild, in their new form.
          let model = try Database()
          try model.executeStatements(
            \(model.swiftText(indent: "      ")))
          let schema = try Schema(model)

      \(steps.joined(separator: "\n"))  }
      """
  }

  private func call(_ part: StepsPlan.Part) -> String {
    guard let rebuild = part.rebuild else {
      let sql = part.sql ?? ""
      let text = sql.swiftText(indent: "      ")
      return "try db.executeStatements(\(text.contains("\n") ? "\n      " : "")\(text))"
    }
    let table = "try schema.table(\(rebuild.new.name.swiftLiteral))?"
    let losses = [(RebuildLosses.columns, ".columns"), (.rowIDs, ".rowIDs")].filter {
      rebuild.losing.contains($0.0)
    }.map(\.1)
    let losing = losses.count == 1 ? losses[0] : "[\(losses.joined(separator: ", "))]"
    let needed = rebuild.new.columnsWithoutValue(from: rebuild.old).map {
      "      // copying: [\($0.name.swiftLiteral): \"…\"]\n"
    }
    let arguments = losses.isEmpty ? "db" : "db, losing: \(losing)"
    guard needed.isEmpty else {
      return "\(table).rebuild(\n      db\(losses.isEmpty ? "" : ",")\n\(needed.joined())"
        + (losses.isEmpty ? "    )" : "      losing: \(losing))")
    }
    return "\(table).rebuild(\(arguments))"
  }
}

extension String {
  /// The text as a Swift literal, if possible one of several indented lines without escapes.
  fileprivate func swiftText(indent: String) -> String {
    let isPlain = unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !$0.isInvisible }
    guard isPlain else { return swiftLiteral }
    if !contains("\n"), count < 80, !contains("\\") {
      return contains("\"") ? oneLine : swiftLiteral
    }
    var marks = ""
    while contains("\"\"\"" + marks) || contains("\\" + marks) { marks += "#" }
    let lines = split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : indent + $0
    }
    return ([marks + "\"\"\""] + lines + [indent + "\"\"\"" + marks]).joined(separator: "\n")
  }

  /// The text as a one-line raw literal. It contains quotes, and no backslash.
  private var oneLine: String {
    var marks = "#"
    while contains("\"" + marks) { marks += "#" }
    return marks + "\"" + self + "\"" + marks
  }
}
