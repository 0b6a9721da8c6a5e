import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  /// Follows what other processes write, by a value that follows the database and a cursor: the key of the last
  /// visit that was shown. Each visit is shown once, in their order, however many came at once.
  static let watch = Command(
    name: "watch",
    summary: "Follows the visits that serve-load writes, live, until it is interrupted.",
    options: [
      Option("limit", "N", "end after as many"),
      Option("all", nil, "begin with the first visit there is, not with the next one"),
    ]
  ) { invocation in
    let limit = try invocation.integer("limit", in: 1...1_000_000_000) ?? Int.max
    let store = try DatabaseLocation(invocation).openForReading()
    let start = try await store.read { db in
      try invocation.has("all") ? 0 : Visit.all.select { $0.id.max() }.fetchOne(db) ?? 0
    }
    Output.note("gazetteer: watching")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var cursor = start ?? 0
    var shown = 0
    let newest = store.values { db in try Visit.all.select { $0.id.max() }.fetchOne(db) ?? 0 }
    for try await _ in newest {
      // All that came since, also while the last ones were shown.
      let seen = cursor
      let visits = try await store.read { db in
        try Visit.join(City.self) { visit, city in visit.city == city.id }
          .filter { visit, _ in visit.id > seen }.order { visit, _ in visit.id }.limit(10_000)
          .select { visit, city in (visit.id, city.name, visit.task) }.fetchAll(db)
      }
      for (id, city, task) in visits {
        cursor = id ?? cursor
        let visit = SeenVisit(visit: cursor, city: city, task: task)
        print(
          invocation.wantsJSON
            ? String(decoding: try encoder.encode(visit), as: UTF8.self)
            : "\(cursor)  \(city)  (task \(task))")
        shown += 1
        if shown == limit { return }
      }
      try Output.finish()
    }
  }
}

/// A visit, as it is shown.
private struct SeenVisit: Encodable {
  let visit: Int64
  let city: String
  let task: Int
}
