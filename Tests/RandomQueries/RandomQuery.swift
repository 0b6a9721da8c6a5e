import Larder

/// A random query, its rows, and what they shall be.
package struct RandomQuery {
  /// The statement.
  package let sql: SQL
  /// Its rows, as Larder reads them.
  package let fetch: (Database) throws -> [[DatabaseValue]]
  /// The number of rows, asked for on its own.
  package var count: ((Database) throws -> Int)?
  /// The rows as Swift computes them; throws ``UnknownValue`` where it can't, ``Refused`` where there are none
  /// to be had, and ``Undecided`` where that depends on the engine.
  var expected: () throws -> [[DatabaseValue]] = { throw UnknownValue() }
  /// Whether the rows have an order that decides where each stands.
  var isOrdered = true
  /// Whether the statement is all that is done, and the shell has what is in it.
  var isWhole = true
  /// How the database stores dates.
  package var dateFormat = DateFormat.secondsSince1970
  package var kind = QueryKind.places
  /// What is done besides the statement.
  package var note = ""

  /// Whether SQLite's shell knows all that the statement says, without functions of Larder's own, and shows values
  /// as Larder does: Decimals that other programs have written are other texts there.
  var isForShell: Bool {
    isWhole && dateFormat == .secondsSince1970
      && !["larder_", "price", "discount"].contains(where: sql.text.contains)
  }

  /// What it has to be refused for, or may; nil where it has rows.
  package var refusal: String? {
    do {
      _ = try expected()
    } catch let error as Refused {
      return error.reason
    } catch is Undecided {
      return "what the engine needn't have looked at"
    } catch {}
    return nil
  }

  /// Rows as texts, sorted where they have no order of their own.
  package func keys(_ rows: [[DatabaseValue]]) -> [String] {
    let keys = rows.map { RowSet.key($0) }
    return isOrdered ? keys : keys.sorted()
  }
}

/// What a random query is about.
package enum QueryKind: String, CaseIterable, Sendable {
  case places, selection, distinct, groups, compound, commonTable, recursion, hierarchy
  case join, leftJoin, join3, join4, rightJoin, fullJoin, outerJoin3, outerJoin4, commonJoin
  case associations, links, nestedAssociations
  case windows, frames, decimalWindows, dateParts, dateSums, dateGroups
  case decimals, decimalSets, numbers, memberships
  case tuples, structs, steps, windowSteps
  case upserts, upsertArrays, updates, joinUpdates, deletions, joinDeletions, insertions
  case pages, placePages, extremes, orderedTexts
}

extension TreeGenerator {
  /// A query of any of these kinds.
  package func query(_ kinds: [QueryKind] = QueryKind.allCases) -> RandomQuery {
    let kind = pick(kinds)
    var query = query(of: kind)
    query.kind = kind
    return query
  }

  private func query(of kind: QueryKind) -> RandomQuery {
    switch kind {
    case .places: places()
    case .selection: selection()
    case .distinct: distinct()
    case .groups: groups()
    case .compound: compound()
    case .commonTable: commonTable()
    case .recursion: recursion()
    case .hierarchy: hierarchy()
    case .join: join()
    case .leftJoin: leftJoin()
    case .join3: join3()
    case .join4: join4()
    case .rightJoin: rightJoin()
    case .fullJoin: fullJoin()
    case .outerJoin3: outerJoin3()
    case .outerJoin4: outerJoin4()
    case .commonJoin: commonJoin()
    case .associations: associations()
    case .links: links()
    case .nestedAssociations: nestedAssociations()
    case .windows: windows()
    case .frames: frames()
    case .decimalWindows: decimalWindows()
    case .dateParts: dateParts()
    case .dateSums: dateSums()
    case .dateGroups: dateGroups()
    case .decimals: decimals()
    case .decimalSets: decimalSets()
    case .numbers: numbers()
    case .memberships: memberships()
    case .tuples: tuples()
    case .structs: structs()
    case .steps: steps()
    case .windowSteps: windowSteps()
    case .upserts: upserts()
    case .upsertArrays: upsertArrays()
    case .updates: updates()
    case .joinUpdates: joinUpdates()
    case .deletions: deletions()
    case .joinDeletions: joinDeletions()
    case .insertions: insertions()
    case .pages: pages()
    case .placePages: placePages()
    case .extremes: extremes()
    case .orderedTexts: orderedTexts()
    }
  }
}
