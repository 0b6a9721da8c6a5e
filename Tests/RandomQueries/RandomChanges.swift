import Foundation
import Larder

// Updates, deletions and insertions of queries' rows: limited, joined, and with what they return.

extension TreeGenerator {
  private var stockRows: [[DatabaseValue]] { data.sales.stocks.map(\.values) }

  private func stockFilter() -> (query: Query<RandomStock>, tree: Tree<Bool>) {
    var tree: Tree<Bool>?
    let query = RandomStock.filter { stock in
      var leaves = TreeLeaves()
      leaves.add(stock)
      let condition = chance(3) ? decimalCondition(leaves) : condition(leaves, 1)
      tree = condition
      return condition.sql
    }
    return (query, tree ?? Tree(true))
  }

  /// The query, mostly limited in an order, and which of its rows that leaves.
  private func limited(
    _ query: Query<RandomStock>
  ) -> (query: Query<RandomStock>, rows: ([[DatabaseValue]]) throws -> [[DatabaseValue]]) {
    if chance(2) { return (query, { $0 }) }
    let (limit, isDescending, byPrice) = (number(0..<6), chance(2), chance(2))
    let ordered = byPrice ? query.order { ($0.price, $0.code) } : query.order { $0.code.desc }
    return (
      ordered.limit(limit, offset: isDescending ? 1 : 0),
      { rows in
        let sorted = try rows.sorted {
          let order = byPrice ? try ExactDecimal.compare($0[3], $1[3]) : 0
          let codes = try $0[0].compared(to: $1[0])
          return order != 0 ? order < 0 : byPrice ? codes < 0 : codes > 0
        }
        return Array(sorted.dropFirst(isDescending ? 1 : 0).prefix(limit))
      }
    )
  }

  func updates() -> RandomQuery {
    let (all, tree) = stockFilter()
    let (query, limited) = limited(all)
    let assignments = assignments()
    let form = number(0..<3)
    let rows = stockRows
    return RandomQuery(
      sql: query.sql,
      fetch: { db in
        try RandomStock.after(db) { db in
          switch form {
          case 0: return [[.from(try query.update(db) { assignments.assign(&$0) })]]
          case 1:
            let changed = try query.updated(db) { assignments.assign(&$0) }
            return try .changed(count: changed.count, returned: changed.map(\.values), [])
          default:
            let changed = try query.updated(
              db, returning: { ($0.code, $0.amount - 1, $0.price + $0.price, $0.least) }
            ) { assignments.assign(&$0) }
            return try .changed(
              count: changed.count,
              returned: changed.map { [.from($0.0), .from($0.1), .from($0.2), .from($0.3)] }, [])
          }
        }
      },
      expected: {
        let found = try limited(rows.filter { try tree.holds([$0]) })
        let changed = try found.map { try assignments.changed($0) }
        let returned =
          switch form {
          case 0: [] as [[DatabaseValue]]
          case 1: changed
          default:
            try changed.map {
              let sum = try ExactDecimal($0[3]) + ExactDecimal($0[3])
              return [
                $0[0], try $0[1].difference(.integer(1)).asInteger(Int.self), try sum.stored, $0[2],
              ]
            }
          }
        let others = rows.filter { row in !found.contains { $0[0] == row[0] } }
        return try .changed(count: found.count, returned: returned, others + changed)
      }, isWhole: false, note: "updated, form \(form)")
  }

  /// The stocks of sales for which a condition holds.
  private func join() -> (
    query: Query<Join2<RandomStock, RandomSale>>, rows: () throws -> [[DatabaseValue]]
  ) {
    var tree: Tree<Bool>?
    let query = RandomStock.all.join(RandomSale.self) { $0.code == $1.stock }
      .filter { stock, sale in
        var leaves = TreeLeaves()
        leaves.add(stock)
        leaves.add(sale)
        let condition = condition(leaves, 1)
        tree = condition
        return condition.sql
      }
    let (stocks, sales) = (stockRows, data.sales.sales.map(\.values))
    return (
      query,
      { [tree] in
        guard let tree else { throw UnknownValue() }
        return try stocks.filter { stock in
          // All of them, as those that are refused count.
          try !sales.filter { $0[12] == stock[0] }.filter { try tree.holds([stock, $0]) }.isEmpty
        }
      }
    )
  }

  func joinUpdates() -> RandomQuery {
    let (query, found) = join()
    let assignments = assignments()
    let rows = stockRows
    return RandomQuery(
      sql: query.sql,
      fetch: { db in
        try RandomStock.after(db) { [[.from(try query.update($0) { assignments.assign(&$0) })]] }
      },
      expected: {
        let found = try found()
        let changed = try found.map { try assignments.changed($0) }
        let others = rows.filter { row in !found.contains { $0[0] == row[0] } }
        return try .changed(count: found.count, others + changed)
      }, isWhole: false, note: "updated")
  }

  func deletions() -> RandomQuery {
    let (all, tree) = stockFilter()
    let (query, limited) = limited(all)
    let form = number(0..<3)
    let rows = stockRows
    return RandomQuery(
      sql: query.sql,
      fetch: { db in
        try RandomStock.after(db) { db in
          switch form {
          case 0: return [[.from(try query.delete(db))]]
          case 1:
            let gone = try query.deleted(db)
            return try .changed(count: gone.count, returned: gone.map(\.values), [])
          default:
            let gone = try query.deleted(db, returning: { ($0.code + "!", $0.price * 2) })
            return try .changed(
              count: gone.count, returned: gone.map { [.from($0.0), .from($0.1)] }, [])
          }
        }
      },
      expected: {
        let found = try limited(rows.filter { try tree.holds([$0]) })
        let returned =
          switch form {
          case 0: [] as [[DatabaseValue]]
          case 1: found
          default:
            try found.map {
              [
                .text(($0[0].text ?? "") + "!"),
                try (ExactDecimal($0[3]) * ExactDecimal("2")).stored,
              ]
            }
          }
        let others = rows.filter { row in !found.contains { $0[0] == row[0] } }
        return try .changed(count: found.count, returned: returned, others)
      }, isWhole: false, note: "deleted, form \(form)")
  }

  func joinDeletions() -> RandomQuery {
    let (query, found) = join()
    let rows = stockRows
    return RandomQuery(
      sql: query.sql,
      fetch: { db in try RandomStock.after(db) { [[.from(try query.delete($0))]] } },
      expected: {
        let found = try found()
        let others = rows.filter { row in !found.contains { $0[0] == row[0] } }
        return try .changed(count: found.count, others)
      }, isWhole: false, note: "deleted")
  }

  func insertions() -> RandomQuery {
    var trees: (where: Tree<Bool>, price: Tree<Decimal>)?
    let (isNew, value, change) = (!chance(5), number(-2..<3), Int16(number(-1..<2)))
    let selection = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let tree = condition(leaves, 1)
      trees = (tree, Tree(sale.price, 0, 4))
      return tree.sql
    }.select { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let price = decimal(leaves, 1)
      trees?.price = price
      return (
        isNew ? "new " + sale.id.cast(to: String.self) : sale.label, sale.count.integer + value,
        sale.small + change, price.sql, sale.ended
      )
    }
    let (rows, sales) = (stockRows, data.sales.sales.map(\.values))
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        let columns = RandomStock.columns
        return try RandomStock.after(db) { db in
          [
            [
              .from(
                try RandomStock.insert(
                  db, columns.code, columns.amount, columns.least, columns.price, columns.seen,
                  from: selection))
            ]
          ]
        }
      },
      expected: { [trees] in
        guard let trees else { throw UnknownValue() }
        let found = try sales.filter { try trees.where.holds([$0]) }.map { sale in
          guard case .integer(let id) = sale[0] else { throw UnknownValue() }
          return try RandomStock.checked([
            isNew ? .text("new \(id)") : sale[2], try sale[6].sum(.from(value)),
            sale[7].isNull ? .null : try sale[7].sum(.from(change)),
            try trees.price.value([sale]), sale[11],
          ])
        }
        if Set((rows + found).map { RowSet.key([$0[0]]) }).count < rows.count + found.count {
          throw Refused("a key that is there")
        }
        return try .changed(count: found.count, rows + found)
      }, isWhole: false, note: "inserted")
  }
}
